import DurableFiles
import HTTP
import Matrix
import Messages
import Seals
import Secrets
import Synchronization
import TestSupport
import Testing

@testable import Networks

@Suite(.timeLimit(.minutes(2))) struct MatrixFaultTests {
  private let server: FaultServer
  private let network: MatrixNetwork
  private static let start = Timestamp(milliseconds: 1_772_280_000_000)
  private static let whoami = FaultServer.says(#"{"user_id": "@a:example.test"}"#)
  private static let sent = FaultServer.says(#"{"event_id": "$1"}"#)
  private static let clear = FaultServer.says(#"{"errcode": "M_NOT_FOUND"}"#, status: 404)
  private static let forbidden = FaultServer.says(#"{"errcode": "M_FORBIDDEN"}"#, status: 403)
  private let time = Time()

  private final class Time: Sendable {
    let now = Mutex(MatrixFaultTests.start)
  }

  init() throws {
    server = try FaultServer()
    var limits = HTTPLimits()
    limits.stall = .seconds(1)
    network = try MatrixNetwork(
      MatrixAccount(homeserver: server.endpoint, token: Secret("TOKENSECRET")), client: HTTPClient(), limits: limits,
      clock: { [time] in time.now.withLock { $0 } })
  }

  private func message(_ firstTriedAt: Timestamp? = nil, to conversation: String = "!a:example.test") -> OutgoingMessage
  {
    OutgoingMessage("m1", to: conversation, firstTriedAt: firstTriedAt)
  }

  private func error(_ message: OutgoingMessage, _ script: String...) async throws -> DeliveryError? {
    try await server.script(script)
    return try await failure { try await network.publish(message) }
  }

  @Test func olderHomeserverGetsAnEmptyAvatar() async throws {
    try await server.script(
      FaultServer.says(#"{"user_id": "@me:example.test"}"#), "status/405", FaultServer.says("{}"))
    let profile = ConversationID.profile(of: InboxID(unchecked: "me")).address
    _ = try await network.publish(OutgoingMessage("m1", .profileRemoval, to: profile.text))
    let path = "profile/%40me%3Aexample.test/avatar_url"
    #expect(try await asked() == ["GET account/whoami", "DELETE \(path)", "PUT \(path)"])
  }

  private func asked() async throws -> [String] {
    try await server.asked().map { asked in
      let path = asked.target.replacing("/_matrix/client/v3/", with: "").split(separator: "?")[0]
      return "\(asked.method) \(path)"
    }
  }

  @Test(arguments: [
    ("status/503", Cause.serverBusy), ("html/502", .serverBusy), ("html/403", .serverBusy), ("html/404", .serverBusy),
    ("html/200", .network), ("status/200", .network), ("status/401", .authExpired), ("status/429", .rateLimited),
    ("redirect", .configError), ("close", .network), ("reset-reply", .network), ("garbage", .network),
    ("stall", .timeout), ("half", .timeout), ("headers", .network),
  ])
  func everyFaultHasACauseAndOnePlainSentence(_ fault: String, _ cause: Cause) async throws {
    // The HTTP client itself repeats a request on a kept connection that was closed.
    for script in fault == "close" ? [[fault]] : [[fault], [Self.clear, fault]] {
      try await server.script(script)
      let error = try #require(try await error(message()))
      #expect(error.cause == cause && error.cause.disposition != .fail)
      #expect(error.sentence.contains("127.0.0.1") && !error.sentence.contains("SECRET"))
      #expect(!error.sentence.contains("\n"))
    }
  }

  @Test func theMessagesIdIsTheTransactions() async throws {
    #expect(try await error(message(), Self.clear, "status/503") != nil)
    #expect(try await error(message(), Self.clear, Self.sent) == nil)
    let asked = [
      "GET rooms/%21a%3Aexample.test/state/m.room.encryption", "PUT rooms/%21a%3Aexample.test/send/m.room.message/m1",
    ]
    #expect(try await self.asked() == asked + asked)
    #expect(try await server.asked().last?.header("Authorization") == "Bearer TOKENSECRET")
  }

  private static let here = FaultServer.says(#"{"room_id": "!a:example.test"}"#)
  private static let there = FaultServer.says(#"{"room_id": "!b:example.test"}"#)

  private func lookUps() async throws -> Int { try await asked().filter { $0.hasPrefix("GET directory") }.count }

  @Test func anAliasIsLookedUpOnceAnHour() async throws {
    let message = message(to: "#family:example.test")
    #expect(try await error(message, Self.here, Self.clear, Self.sent) == nil)
    time.now.withLock { $0 = $0.advanced(seconds: 3599) }
    #expect(try await error(message, Self.clear, Self.sent) == nil)
    #expect(try await lookUps() == 1)
    time.now.withLock { $0 = $0.advanced(seconds: 1) }
    #expect(try await error(message, Self.there, Self.clear, Self.sent) == nil)
    #expect(try await lookUps() == 2)
    #expect(try await asked().last == "PUT rooms/%21b%3Aexample.test/send/m.room.message/m1")
  }

  @Test(arguments: [
    ("M_FORBIDDEN", 403, Cause.forbidden), ("M_NOT_FOUND", 404, .roomGone),
  ])
  func refusedCachedRoomIsLookedUpOnceMore(
    _ code: String, _ status: Int, _ cause: Cause
  ) async throws {
    let refusal = FaultServer.says(#"{"errcode": "\#(code)"}"#, status: status)
    let message = message(to: "#family:example.test")
    #expect(try await error(message, Self.here, Self.clear, Self.sent) == nil)
    #expect(try await error(message, Self.clear, refusal, Self.there, Self.clear, Self.sent) == nil)
    #expect(try await error(message, Self.clear, refusal, Self.here, Self.clear, refusal)?.cause == cause)
    // The cached alias.
    #expect(try await error(message, Self.there, Self.clear, refusal)?.cause == cause)
    #expect(try await error(message, Self.there, Self.clear, Self.sent) == nil)
    #expect(try await error(message, Self.clear, refusal, Self.there)?.cause == cause, "it leads to the same room")
    #expect(try await lookUps() == 6)
  }

  @Test func refusedTokenIsReadAgainOnTheNextAttempt() async throws {
    let file = Mutex("old")
    let account = MatrixAccount(
      homeserver: server.endpoint, token: try Renewable(reading: { Secret(file.withLock { $0 }) }))
    let network = try MatrixNetwork(account, client: HTTPClient())
    func publish() async throws -> Cause? { try await failure { try await network.publish(message()) }?.cause }
    try await server.script(Self.clear, Self.sent)
    #expect(try await publish() == nil)
    file.withLock { $0 = "new" }
    try await server.script(FaultServer.says(#"{"errcode": "M_UNKNOWN_TOKEN"}"#, status: 401))
    #expect(try await publish() == .authExpired)
    try await server.script(Self.clear, Self.sent)
    #expect(try await publish() == nil)
    let tokens = try await server.asked().map { $0.header("Authorization") }
    #expect(tokens == ["old", "old", "old", "new", "new"].map { "Bearer \($0)" })
  }

  @Test func encryptedRoomStaysEncrypted() async throws {
    let scratch = try TemporaryDirectory()
    let state = try Directory(path: scratch.path)
    func network() throws -> MatrixNetwork {
      try MatrixNetwork(
        MatrixAccount(homeserver: server.endpoint, token: Secret("TOKENSECRET")),
        encryptedRooms: EncryptedRooms(in: state), client: HTTPClient())
    }
    func cause(_ network: MatrixNetwork, _ room: String) async throws -> Cause? {
      try await failure { try await network.publish(message(to: room)) }?.cause
    }
    let first = try network()
    for room in ["!a:example.test", "!b/é:example.test"] {
      try await server.script(FaultServer.says(#"{"algorithm": "m.megolm.v1.aes-sha2"}"#))
      #expect(try await cause(first, room) == .encryptedRoom)
    }
    let asked = try await self.asked().count
    // A crash tore the last line of another process.
    try state.file(appendingTo: "encrypted-rooms").write(Array("\n%21torn".utf8))
    for network in [first, try network()] {
      for room in ["!a:example.test", "!b/é:example.test"] {
        #expect(try await cause(network, room) == .encryptedRoom)
        await #expect(throws: DeliveryError.self) {
          try await network.admit(Address(unchecked: room), sealedWith: .matrix)
        }
      }
    }
    #expect(try await self.asked().count == asked, "the homeserver is not asked any more")
    try await server.script(Self.clear, Self.sent)
    #expect(try await cause(network(), "!c:example.test") == nil)
  }

  @Test(arguments: ["{}", #"{"algorithm": "another.one"}"#])
  func anyStateOfEncryptionMeansThatTheRoomIsEncrypted(_ state: String) async throws {
    let error = try #require(try await error(message(), FaultServer.says(state)))
    #expect(error.cause == .encryptedRoom && error.cause.disposition == .hold)
    #expect(error.sentence.contains("the room !a:example.test is encrypted and `encryption: never` is set"))
    #expect(try await asked().allSatisfy { $0.hasPrefix("GET") })
  }

  @Test(arguments: ["html/404", "status/404", "status/503", "close"])
  func whereTheHomeserverDoesNotTellNothingIsSent(_ fault: String) async throws {
    #expect(try await error(message(), fault)?.cause.disposition == .retry)
    #expect(try await error(message(), Self.forbidden)?.cause == .forbidden)
    #expect(try await asked().allSatisfy { $0.hasPrefix("GET") })
  }

  @Test func messagesPublishedBeforeEncryptionAreFound() async throws {
    let event =
      #"{"event_id": "$1", "sender": "@a:example.test", "origin_server_ts": 5, "content": {"photospool.message": "m1"}}"#
    let page = FaultServer.says(#"{"chunk": [\#(event)]}"#)
    #expect(try await error(message(Self.start), FaultServer.says("{}"), Self.whoami, page) == nil)
  }

  @Test func aDirectoryThatCannotBeAskedFailsNothing() async throws {
    for fault in ["html/404", "status/503", "close", FaultServer.says(#"{"room_id": "nonsense"}"#)] {
      let error = try await error(message(to: "#family:example.test"), fault)
      #expect(error?.cause.disposition == .retry, "\(fault)")
    }
  }

  @Test func onlyMessagesTheHomeserverMayHaveForgottenAreSearched() async throws {
    for seconds in [0.0, 1, MatrixNetwork.homeserverMemory / 2] {
      #expect(try await error(message(Self.start.advanced(seconds: seconds)), Self.clear, Self.sent) == nil)
    }
    #expect(try await asked().allSatisfy { !$0.hasSuffix("messages") })
    // An earlier process tried it.
    let past = message(Self.start.advanced(seconds: -1))
    let page = FaultServer.says(#"{"chunk": [], "start": "t"}"#)
    #expect(try await error(past, Self.whoami, page, Self.clear, Self.sent) == nil)
    #expect(
      try await asked().suffix(4) == [
        "GET account/whoami", "GET rooms/%21a%3Aexample.test/messages",
        "GET rooms/%21a%3Aexample.test/state/m.room.encryption",
        "PUT rooms/%21a%3Aexample.test/send/m.room.message/m1",
      ])
  }

  @Test func unreadableHistoryBlocksPublishing() async throws {
    let past = message(Self.start.advanced(seconds: -1))
    #expect(try await error(past, "status/503")?.cause == .serverBusy)
    #expect(try await error(past, Self.whoami, "html/502")?.cause == .serverBusy)
    #expect(try await asked().allSatisfy { $0.hasPrefix("GET") })
  }

  @Test func eventOnALaterPageIsFoundAmongForeignOnes() async throws {
    func page(_ events: String, end: String?) -> String {
      FaultServer.says(#"{"chunk": [\#(events)]\#(end.map { ", \"end\": \"\($0)\"" } ?? "")}"#)
    }
    func event(_ sender: String, _ content: String) -> String {
      #"{"event_id": "$1", "sender": "\#(sender)", "origin_server_ts": 5, "type": "m.room.message", "content": \#(content)}"#
    }
    try await server.script(
      Self.whoami, page(event("@b:example.test", #"{"photospool.message": "m1"}"#), end: "t&1"),
      page(event("@a:example.test", #"{"photospool.message": 1, "info": []}"#), end: "t2"),
      page(event("@a:example.test", #"{"photospool.message": "m1"}"#), end: nil))
    let found = try await network.find(TriedMessage("m1", to: "!a:example.test"))
    #expect(found == .published(Publication(publishedAt: Timestamp(milliseconds: 5), remoteID: "$1", attachment: nil)))
    #expect(try await server.asked()[2].target.hasSuffix("&from=t%261"))
  }
}
