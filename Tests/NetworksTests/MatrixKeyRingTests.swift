import DurableFiles
import HTTP
import Messages
import Olm
import RoomKeys
import Secrets
import Synchronization
import TestSupport
import Testing

@testable import Matrix
@testable import Networks

@Suite(.timeLimit(.minutes(2))) struct MatrixKeyRingTests {
  private let server: FaultServer
  private let scratch: TemporaryDirectory
  private let device: OwnDevice
  private let lines = Lines()

  private final class Lines: Sendable {
    let all = Mutex<[String]>([])
  }

  init() throws {
    server = try FaultServer()
    scratch = try TemporaryDirectory()
    device = OwnDevice(
      user: "@me:example.test", id: "DEVICE", identity: try Curve25519KeyPair(), signing: try Ed25519KeyPair())
  }

  private func homeserver(_ token: Renewable<Secret> = Renewable(Secret("former"))) throws -> MatrixServer {
    try MatrixServer(MatrixAccount(homeserver: server.endpoint, token: token), for: .room, client: HTTPClient())
  }

  private func ring(
    _ server: MatrixServer, stored: OwnDevice? = nil,
    device: @escaping @Sendable () async throws(DeliveryError) -> OwnDevice
  ) throws -> MatrixKeyRing {
    let files = MatrixKeyFiles(in: try Directory(path: scratch.path), network: "matrix")
    let list = MatrixDeviceList(server, files: files, clock: { .now() }, log: { _ in })
    return MatrixKeyRing(
      server, files: files, devices: list, device: device, stored: { stored }, reopen: { _ in }
    ) { [lines] line in
      lines.all.withLock { $0.append(line) }
    }
  }

  private func network(_ rooms: EncryptedRooms = EncryptedRooms()) throws -> MatrixNetwork {
    try MatrixNetwork(
      MatrixAccount(homeserver: server.endpoint, token: Secret("t")), encryptedRooms: rooms,
      keys: MatrixKeySettings(state: Directory(path: scratch.path)), client: HTTPClient())
  }

  private func sync(_ more: String = "") throws -> MatrixSync {
    let text = #"{"next_batch": "s2"\#(more)}"#
    return try #require(MatrixSync(MatrixAnswer(HTTPResponse(status: 200, headers: [], body: Array(text.utf8)))))
  }

  @Test func aMissingCountOfOneTimeKeysMeansNone() throws {
    for more in [
      "", #", "device_one_time_keys_count": {}"#, #", "device_one_time_keys_count": 7"#,
      #", "device_one_time_keys_count": {"signed_curve25519": "7"}, "device_unused_fallback_key_types": 7"#,
    ] { #expect(try sync(more).oneTimeKeys == 0) }
    #expect(try sync(#", "device_one_time_keys_count": {"signed_curve25519": 7}"#).oneTimeKeys == 7)
    #expect(try sync(#", "device_unused_fallback_key_types": []"#).needsFallback)
    #expect(try !sync().needsFallback, "a homeserver without fallback keys")
  }

  @Test func keysAreGivenOnceAndTheSameOnesAfterAFailure() async throws {
    let ring = try ring(homeserver()) { [device] () throws(DeliveryError) in device }
    try await server.script("status/503", "reset-reply", FaultServer.says("{}"))
    for _ in 0..<3 { try await ring.give(sync()) }
    try await ring.give(sync(#", "device_one_time_keys_count": {"signed_curve25519": 50}"#))
    let asked = try await server.asked()
    #expect(asked.map(\.target) == Array(repeating: "/_matrix/client/v3/keys/upload", count: 3))
    #expect(Set(asked.map(\.sha256)).count == 1)
    let said = lines.all.withLock { $0 }
    #expect(said.count == 2 && said.allSatisfy { $0.hasPrefix("no keys are given to other devices: ") }, "\(said)")
  }

  @Test func afterALoginNothingIsGivenInTheNameOfTheFormerDevice() async throws {
    let token = Renewable(Secret("former")) { Secret("new") }
    let ring = try ring(homeserver(token)) { [device] () throws(DeliveryError) in
      token.refuse()
      return device
    }
    try await ring.give(sync())
    #expect(try await server.asked().isEmpty)
    try await server.script(FaultServer.says("{}"))
    try await ring.give(sync())
    #expect(try await server.asked().map { $0.header("Authorization") } == ["Bearer new"])
  }

  @Test func aUserOfAnUnreachableHomeserverIsNotLookedForAtOnceAgain() async throws {
    let list = MatrixDeviceList(
      try homeserver(), files: MatrixKeyFiles(in: try Directory(path: scratch.path), network: "matrix"),
      clock: { Timestamp(milliseconds: 1) }, log: { _ in })
    try await server.script(FaultServer.says(#"{"device_keys": {}, "failures": {"dead.test": {"status": 503}}}"#))
    let key = try Curve25519KeyPair().publicKey
    for _ in 0..<3 { #expect(try await list.fingerprint(of: key, user: "@a:dead.test") == nil) }
    #expect(try await server.asked().count == 1)
  }

  /// The answer of a `/sync` with a room key for the device.
  private func syncWithKey() async throws -> MatrixSync {
    let file = try await MatrixKeyFiles(in: Directory(path: scratch.path), network: "matrix").keys()
    let offer = try #require(
      try await file.offer(count: 0, needsFallback: false, for: device, now: Timestamp(milliseconds: 1)))
    let keys = try #require(JSONValue(parsing: offer.body)?["one_time_keys"]?.members)
    let key = try #require(keys.values.first?["key"]?.text.flatMap { Curve25519PublicKey(base64: $0) })
    let (bob, megolm) = (try Curve25519KeyPair(), try OutboundMegolmSession())
    var olm = try OlmSession(from: bob, to: device.identity.publicKey, oneTimeKey: key)
    let payload = JSONValue.object([
      "type": .text("m.room_key"), "sender": .text("@bob:example.test"), "recipient": .text(device.user),
      "recipient_keys": .object(["ed25519": .text(device.signing.publicKey.base64)]),
      "keys": .object(["ed25519": .text(try Ed25519KeyPair().publicKey.base64)]),
      "content": .object([
        "algorithm": .text("m.megolm.v1.aes-sha2"), "room_id": .text("!a:example.test"),
        "session_id": .text(megolm.id), "session_key": .text(try megolm.sessionKey().bytes.unpaddedBase64),
      ]),
    ])
    guard case .preKey(let bytes) = try olm.encrypt(payload.canonical ?? []) else { throw DeliveryError(.rejected, "") }
    let event = JSONValue.object([
      "type": .text("m.room.encrypted"), "sender": .text("@bob:example.test"),
      "content": .object([
        "algorithm": .text("m.olm.v1.curve25519-aes-sha2"), "sender_key": .text(bob.publicKey.base64),
        "ciphertext": .object([
          device.identity.publicKey.base64: .object(["type": .whole(0), "body": .text(bytes.unpaddedBase64)])
        ]),
      ]),
    ])
    let text = String(decoding: try #require(event.canonical), as: UTF8.self)
    return try sync(#", "to_device": {"events": [\#(text)]}"#)
  }

  @Test func keysForADeviceThatIsNotReadyAreTakenOrLeftAtTheHomeserver() async throws {
    let held = DeliveryError(.configError, "set recoveryKeyFile")
    let sync = try await syncWithKey()
    let without = try ring(homeserver()) { () throws(DeliveryError) in throw held }
    await #expect(throws: held) { try await without.take(sync) { _ in true } }
    try await without.take(self.sync(#", "to_device": {"events": [{"type": "m.dummy"}]}"#)) { _ in true }
    #expect(try await server.asked().isEmpty)
    let with = try ring(homeserver(), stored: device) { () throws(DeliveryError) in throw held }
    try await with.take(sync) { _ in true }
    // The members are asked for after a key was taken.
    #expect(try await server.asked().map(\.target) == ["/_matrix/client/v3/rooms/%21a%3Aexample.test/joined_members"])
  }

  @Test func identitiesThatAreSeenAtOnceAreAllRemembered() async throws {
    let files = MatrixKeyFiles(in: try Directory(path: scratch.path), network: "matrix")
    let list = MatrixDeviceList(try homeserver(), files: files, clock: { .now() }, log: { _ in })
    let master = try Ed25519KeyPair().publicKey
    let devices = try (0..<30).map { number in
      let identity = try MatrixIdentity(user: "@u\(number):example.test", device: "D")
      return try #require(
        MatrixDevice(
          identity.deviceKeys(), user: identity.user, id: identity.device, master: master, selfSigning: nil))
    }
    try await withThrowingTaskGroup { group in
      for device in devices { group.addTask { try await list.trust([device]) } }
      try await group.waitForAll()
    }
    let stored = try await files.read("masters", as: [String: String].self)
    #expect(Set(try #require(stored).keys) == Set(devices.map(\.user)))
  }

  @Test(arguments: [("M_FORBIDDEN", 403, Cause.forbidden), ("M_NOT_FOUND", 404, .roomGone)])
  func anEncryptedMessageToAReplacedRoomBeginsAnew(_ code: String, _ status: Int, _ cause: Cause) async throws {
    let network = try network()
    let event = OutgoingEvent(room: "%21a%3Aexample.test", content: "{}", mark: "mark")
    try await network.roomKeys?.files.put(event, for: MessageID(unchecked: "m1"))
    let message = OutgoingMessage("m1", to: "#family:example.test").reserved(as: "mark")
    let tried = TriedMessage("m1", to: "#family:example.test", reserved: "mark")
    let refusal = FaultServer.says(#"{"errcode": "\#(code)"}"#, status: status)
    func room(_ letter: String) -> String { FaultServer.says(#"{"room_id": "!\#(letter):example.test"}"#) }
    let (user, history) = (FaultServer.says(#"{"user_id": "@a:example.test"}"#), FaultServer.says(#"{"chunk": []}"#))
    try await server.script(refusal, room("b"))
    #expect(try await failure { try await network.publish(message) }?.cause == .conflict)
    try await server.script(user, history, refusal, room("b"))
    #expect(try await network.find(tried) == .absent)
    try await server.script(history, refusal, room("a"))
    #expect(try await failure { try await network.find(tried) }?.cause == cause, "the alias leads to the same room")
    try await server.script(history, FaultServer.says(#"{"event_id": "$1"}"#))
    guard case .published(let publication) = try await network.find(tried) else { throw DeliveryError(.rejected, "") }
    #expect(publication.remoteID == "$1")
  }

  @Test func storedEventsOfEndedMessagesGo() async throws {
    let network = try network()
    try await network.forgetEnded { _ in [] }
    let files = try #require(network.roomKeys?.files)
    let messages = ["waits", "cancelled"].map { MessageID(unchecked: $0) }
    for message in messages { try await files.put(OutgoingEvent(room: "r", content: "{}", mark: "m"), for: message) }
    let outbox = try Directory(path: scratch.path("matrix/matrix/outbox"))
    try outbox.put([1], as: ".torn.tmp")
    try await network.forgetEnded { _ in [messages[0]] }
    #expect(try outbox.names() == ["waits"])
  }

  @Test func aCaptionTooLongForAnEncryptedRoomIsKnownBeforeItsPhoto() async throws {
    let rooms = EncryptedRooms()
    await rooms.add("%21room%3Aexample.test")
    let network = try network(rooms)
    let limit = try #require(network.textLimit)
    let room = Address(unchecked: "!room:example.test")
    try await limit(String(repeating: "x", count: 46_000), room)
    let error = await #expect(throws: DeliveryError.self) {
      try await limit(String(repeating: "x", count: 49_000), room)
    }
    #expect(error?.cause == .rejected && error?.sentence.contains("shorten the text") == true)
    #expect(try await server.asked().isEmpty)
    // In the clear it fits.
    try await server.script(FaultServer.says(#"{"errcode": "M_NOT_FOUND"}"#, status: 404))
    try await limit(String(repeating: "x", count: 49_000), Address(unchecked: "!other:example.test"))
  }
}
