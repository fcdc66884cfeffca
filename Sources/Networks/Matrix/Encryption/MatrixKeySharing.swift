import Digests
import HTTP
import Matrix
import Messages
import Olm
import RoomKeys
import Seals

/// Gives the key of a room's session to devices, through Olm sessions.
final class MatrixKeySharing: Sendable {
  private let server: MatrixServer
  private let files: MatrixKeyFiles
  private let clock: @Sendable () -> Timestamp
  private let turns = KeyedMutex()

  /// Devices in one request.
  private static let page = 100

  init(_ server: MatrixServer, files: MatrixKeyFiles, clock: @escaping @Sendable () -> Timestamp) {
    self.server = server
    self.files = files
    self.clock = clock
  }

  /// Sends the key to devices. When it returns, the homeserver has taken it for them.
  ///
  /// - Returns: the devices that got it, with the number of sessions that they have opened; the others have no one-time
  ///   key left.
  func share(
    _ session: OutboundMegolmSession, of room: String, with devices: [MatrixDevice], as own: MatrixIdentity
  ) async throws(DeliveryError) -> [MatrixDevice: Int] {
    let key = try usingOlm { () throws(OlmError) in try session.sessionKey() }
    let content = JSONValue.object([
      "algorithm": .text("m.megolm.v1.aes-sha2"), "room_id": .text(room), "session_id": .text(session.id),
      "session_key": .text(key.bytes.unpaddedBase64),
    ])
    return try await deliver("m.room_key", content, to: devices, as: own)
  }

  /// Opens a new session with each device, over which it sends from then on.
  func reopen(_ devices: [MatrixDevice], as own: MatrixIdentity) async throws(DeliveryError) {
    _ = try await deliver("m.dummy", .object([:]), to: devices, overNewSessions: true, as: own)
  }

  /// Tells devices that they do not get a key, and why. It is only a courtesy, so failures are ignored.
  ///
  /// - Parameters:
  ///   - code: `m.unverified` or `m.no_olm`.
  func withhold(
    _ session: OutboundMegolmSession, of room: String, from devices: [MatrixDevice], code: String,
    as own: MatrixIdentity
  ) async {
    var content: [String: JSONValue] = [
      "algorithm": .text("m.megolm.v1.aes-sha2"), "code": .text(code),
      "sender_key": .text(own.identityKey.publicKey.base64),
    ]
    if code != "m.no_olm" {
      content["room_id"] = .text(room)
      content["session_id"] = .text(session.id)
    }
    for start in stride(from: 0, to: devices.count, by: Self.page) {
      let some = Array(devices[start..<min(start + Self.page, devices.count)])
      try? await send(
        "m.room_key.withheld", Dictionary(some.map { ($0, .object(content)) }, uniquingKeysWith: { $1 }))
    }
  }

  // MARK: Olm

  /// Encrypts an event for devices, and sends it.
  private func deliver(
    _ type: String, _ content: JSONValue, to devices: [MatrixDevice], overNewSessions: Bool = false,
    as own: MatrixIdentity
  ) async throws(DeliveryError) -> [MatrixDevice: Int] {
    let keys = try await files.keys()
    let device = OwnDevice(own)
    var reached: [MatrixDevice: Int] = [:]
    for start in stride(from: 0, to: devices.count, by: Self.page) {
      var some = Array(devices[start..<min(start + Self.page, devices.count)])
      // Each room shares in its own task, and one session with a device is enough.
      try await turns.withLock("") { () async throws(DeliveryError) in
        let new = overNewSessions ? nil : try await keys.unreachable(some.map(\.identityKey), from: device)
        let opened = try await open(some.filter { new?.contains($0.identityKey) ?? true }, as: own)
        if overNewSessions { some.removeAll { opened[$0.identityKey] == nil } }
        let messages = some.map { other in
          DeviceMessage(to: other.identityKey, of: other.user, payload(type, content, for: other, as: own))
        }
        let encrypted = try await keys.encrypt(messages, opened: opened, from: device, now: clock())
        if !opened.isEmpty { try await keys.prune(now: clock()) }
        var contents: [MatrixDevice: JSONValue] = [:]
        for (other, message) in zip(some, encrypted) {
          guard let message else { continue }
          contents[other] = event(message.message, for: other, as: own)
          reached[other] = message.openings
        }
        if !contents.isEmpty { try await send("m.room.encrypted", contents) }
      }
    }
    return reached
  }

  /// Claims a one-time key of each device, and opens a session with it.
  private func open(
    _ devices: [MatrixDevice], as own: MatrixIdentity
  ) async throws(DeliveryError) -> [Curve25519PublicKey: OlmSession] {
    if devices.isEmpty { return [:] }
    var claims: [String: [String: JSONValue]] = [:]
    for device in devices { claims[device.user, default: [:]][device.id] = .text("signed_curve25519") }
    let answer = try await server.post(
      "/_matrix/client/v3/keys/claim",
      .object(["one_time_keys": .object(claims.mapValues(JSONValue.object)), "timeout": .whole(10_000)]))
    var opened: [Curve25519PublicKey: OlmSession] = [:]
    for device in devices {
      guard let keys = answer["one_time_keys"]?[device.user]?[device.id]?.members,
        let object = keys.first(where: { $0.key.hasPrefix("signed_curve25519:") })?.value,
        object.isSigned(by: device.signingKey, of: device.user, keyID: device.id),
        let key = object["key"]?.text.flatMap({ Curve25519PublicKey(base64: $0) }),
        let session = try? OlmSession(from: own.identityKey, to: device.identityKey, oneTimeKey: key)
      else { continue }
      opened[device.identityKey] = session
    }
    return opened
  }

  private func payload(
    _ type: String, _ content: JSONValue, for device: MatrixDevice, as own: MatrixIdentity
  ) -> [UInt8] {
    JSONValue.object([
      "type": .text(type), "sender": .text(own.user), "recipient": .text(device.user),
      "sender_device": .text(own.device),
      "recipient_keys": .object(["ed25519": .text(device.signingKey.base64)]),
      "keys": .object(["ed25519": .text(own.signingKey.publicKey.base64)]), "content": content,
    ]).canonical ?? []
  }

  /// The content of an `m.room.encrypted` event to a device.
  private func event(
    _ message: OlmSession.Encrypted, for device: MatrixDevice, as own: MatrixIdentity
  ) -> JSONValue {
    let (type, body): (Int64, [UInt8]) =
      switch message {
      case .preKey(let bytes): (0, bytes)
      case .normal(let bytes): (1, bytes)
      }
    return .object([
      "algorithm": .text("m.olm.v1.curve25519-aes-sha2"), "sender_key": .text(own.identityKey.publicKey.base64),
      "ciphertext": .object([
        device.identityKey.base64: .object(["type": .whole(type), "body": .text(body.unpaddedBase64)])
      ]),
    ])
  }

  private func send(_ type: String, _ contents: [MatrixDevice: JSONValue]) async throws(DeliveryError) {
    var messages: [String: [String: JSONValue]] = [:]
    for (device, content) in contents { messages[device.user, default: [:]][device.id] = content }
    let transaction = try RandomBytes.make(16).hex
    _ = try await server.post(
      "/_matrix/client/v3/sendToDevice/\(type)/\(transaction)",
      .object(["messages": .object(messages.mapValues(JSONValue.object))]), method: .put)
  }
}
