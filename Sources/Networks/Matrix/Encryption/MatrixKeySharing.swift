import Digests
import HTTP
import Matrix
import Messages
import Olm
import Seals
import Synchronization

/// Gives the key of a room's session to devices, through Olm sessions that are kept in memory.
final class MatrixKeySharing: Sendable {
  private let server: MatrixServer
  private let turns = KeyedMutex()
  private let sessions = Mutex<[Curve25519PublicKey: OlmSession]>([:])

  /// Devices in one request, and Olm sessions in memory.
  private static let page = 100
  private static let most = 10_000

  init(_ server: MatrixServer) { self.server = server }

  /// Forgets all sessions, which belong to one device of ours.
  func forget() { sessions.withLock { $0.removeAll() } }

  /// Sends the key to devices. When it returns, the homeserver has taken it for them.
  ///
  /// - Returns: the devices that got it; the others have no one-time key left.
  func share(
    _ session: OutboundMegolmSession, of room: String, with devices: [MatrixDevice], as own: MatrixIdentity
  ) async throws(DeliveryError) -> [MatrixDevice] {
    var holders: [MatrixDevice] = []
    for start in stride(from: 0, to: devices.count, by: Self.page) {
      let some = Array(devices[start..<min(start + Self.page, devices.count)])
      holders += try await turns.withLock("") { () async throws(DeliveryError) in
        try await open(some, as: own)
        let reached = sessions.withLock { sessions in some.filter { sessions[$0.identityKey] != nil } }
        if !reached.isEmpty {
          try await send("m.room.encrypted", to: reached) { device throws(DeliveryError) in
            try encrypted(session, of: room, for: device, as: own)
          }
        }
        return reached
      }
    }
    return holders
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
      try? await send("m.room_key.withheld", to: some) { _ in .object(content) }
    }
  }

  // MARK: Olm

  /// Claims a one-time key of each device without a session, and opens one.
  private func open(_ devices: [MatrixDevice], as own: MatrixIdentity) async throws(DeliveryError) {
    let missing = sessions.withLock { sessions in devices.filter { sessions[$0.identityKey] == nil } }
    if missing.isEmpty { return }
    var claims: [String: [String: JSONValue]] = [:]
    for device in missing { claims[device.user, default: [:]][device.id] = .text("signed_curve25519") }
    let answer = try await server.post(
      "/_matrix/client/v3/keys/claim",
      .object(["one_time_keys": .object(claims.mapValues(JSONValue.object)), "timeout": .whole(10_000)]))
    for device in missing {
      guard let keys = answer["one_time_keys"]?[device.user]?[device.id]?.members,
        let object = keys.first(where: { $0.key.hasPrefix("signed_curve25519:") })?.value,
        object.isSigned(by: device.signingKey, of: device.user, keyID: device.id),
        let key = object["key"]?.text.flatMap({ Curve25519PublicKey(base64: $0) }),
        let session = try? OlmSession(from: own.identityKey, to: device.identityKey, oneTimeKey: key)
      else { continue }
      sessions.withLock { sessions in
        if sessions.count >= Self.most { sessions.removeAll() }
        sessions[device.identityKey] = session
      }
    }
  }

  private func encrypted(
    _ session: OutboundMegolmSession, of room: String, for device: MatrixDevice, as own: MatrixIdentity
  ) throws(DeliveryError) -> JSONValue {
    do throws(OlmError) {
      let plain = JSONValue.object([
        "type": .text("m.room_key"), "sender": .text(own.user), "recipient": .text(device.user),
        "sender_device": .text(own.device),
        "recipient_keys": .object(["ed25519": .text(device.signingKey.base64)]),
        "keys": .object(["ed25519": .text(own.signingKey.publicKey.base64)]),
        "content": .object([
          "algorithm": .text("m.megolm.v1.aes-sha2"), "room_id": .text(room), "session_id": .text(session.id),
          "session_key": .text(try session.sessionKey().bytes.unpaddedBase64),
        ]),
      ])
      let message = try sessions.withLock { sessions throws(OlmError) in
        guard var olm = sessions[device.identityKey] else { throw .exhausted }
        defer { sessions[device.identityKey] = olm }
        return try olm.encrypt(plain.canonical ?? [])
      }
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
    } catch { throw MatrixOwnDevice.broken(error) }
  }

  private func send(
    _ type: String, to devices: [MatrixDevice], _ content: (MatrixDevice) throws(DeliveryError) -> JSONValue
  ) async throws(DeliveryError) {
    var messages: [String: [String: JSONValue]] = [:]
    for device in devices { messages[device.user, default: [:]][device.id] = try content(device) }
    let transaction = try RandomBytes.make(16).hex
    _ = try await server.post(
      "/_matrix/client/v3/sendToDevice/\(type)/\(transaction)",
      .object(["messages": .object(messages.mapValues(JSONValue.object))]), method: .put)
  }
}
