import Digests
import HTTP
import Matrix
import Messages
import Olm
import RoomKeys
import Synchronization

/// Which devices get the keys of rooms.
package enum MatrixKeyReceivers: String, CaseIterable, Sendable {
  /// Devices that their owner's identity has signed.
  case crossSigned = "cross-signed"
  case all
}

/// Encrypts for rooms with Megolm. Who can read a message is decided right before it is encrypted: the members of that
/// moment, with their devices.
///
/// Sessions are in memory only, so a crash, a backup or a snapshot can turn none of them back. A device that opens an Olm
/// session with ours may have lost the keys that it had. It gets them again with the next message.
package final class MatrixRoomKeys: Sendable {
  /// The devices of a room's members, for `check`.
  struct Audience: Sendable {
    let receivers: [MatrixDevice]
    let leftOut: [MatrixDevice]
  }

  let device: MatrixOwnDevice
  let files: MatrixKeyFiles
  private let server: MatrixServer
  let devices: MatrixDeviceList
  private let sharing: MatrixKeySharing
  private let receivers: MatrixKeyReceivers
  private let clock: @Sendable () -> Timestamp
  private let turns = KeyedMutex()
  private let state = Mutex(State())

  private struct State {
    var sessions: [String: MatrixRoomSession] = [:]
    /// The device of ours that they belong to.
    var device = ""
  }

  /// Rooms with a session, and members of one room.
  private static let mostSessions = 1000
  private static let mostMembers = 5000
  private static let memberBytes = 16 << 20

  init(
    _ server: MatrixServer, device: MatrixOwnDevice, receivers: MatrixKeyReceivers,
    clock: @escaping @Sendable () -> Timestamp, log: @escaping @Sendable (String) -> Void
  ) {
    self.server = server
    self.device = device
    files = device.files
    self.receivers = receivers
    self.clock = clock
    devices = MatrixDeviceList(server, files: device.files, clock: clock, log: log)
    sharing = MatrixKeySharing(server, files: device.files, clock: clock)
  }

  /// The content of an `m.room.encrypted` event. When it returns, the homeserver has the key for every device that gets
  /// it.
  ///
  /// - Parameters:
  ///   - content: the content of an `m.room.message`, as JSON.
  ///   - room: the room's id.
  func encrypt(_ content: [UInt8], in room: String) async throws(DeliveryError) -> OutgoingEvent {
    try await turns.withLock(room) { () async throws(DeliveryError) in
      let own = try await device.identity()
      state.withLock { if $0.device != own.device { $0 = State(device: own.device) } }
      try await share(in: room, as: own)
      return try encrypted(content, in: room, as: own)
    }
  }

  /// Opens new sessions with devices whose messages cannot be opened, and tells them so.
  func reopen(_ senders: Set<UnreadableSender>) async throws(DeliveryError) {
    let own = try await device.identity()
    let devices = try await devices.devices(of: Set(senders.map(\.user)).sorted()).filter { device in
      senders.contains(UnreadableSender(user: device.user, identityKey: device.identityKey))
        && device.identityKey != own.identityKey.publicKey
    }
    try await sharing.reopen(devices, as: own)
  }

  /// Who gets the keys of a room.
  func audience(of room: String, as user: String, _ device: String) async throws(DeliveryError) -> Audience {
    let all = try await devices.devices(of: members(of: room)).filter { $0.user != user || $0.id != device }
    return Audience(
      receivers: all.filter { receivers == .all || $0.isCrossSigned },
      leftOut: all.filter { receivers == .crossSigned && !$0.isCrossSigned })
  }

  private func share(in room: String, as own: MatrixIdentity) async throws(DeliveryError) {
    let audience = try await audience(of: room, as: own.user, own.device)
    let wanted = Set(audience.receivers)
    var session: MatrixRoomSession
    if let present = state.withLock({ $0.sessions[room] }), present.isUsable(for: wanted, at: clock()) {
      session = present
    } else {
      let rules = try await rules(of: room)
      session = try usingOlm { () throws(OlmError) in try MatrixRoomSession(rules, at: clock()) }
    }
    let keys = try await files.keys()
    let missing = audience.receivers.filter { session.holders[$0] != keys.openings(by: $0.identityKey) }
    if !missing.isEmpty {
      try await devices.trust(missing)
      let reached = try await sharing.share(session.megolm, of: room, with: missing, as: own)
      session.holders.merge(reached) { $1 }
      let unreached = missing.filter { reached[$0] == nil && !session.refused.contains($0) }
      if !unreached.isEmpty {
        await sharing.withhold(session.megolm, of: room, from: unreached, code: "m.no_olm", as: own)
        session.refused.formUnion(unreached)
      }
    }
    let refused = audience.leftOut.filter { !session.refused.contains($0) }
    if !refused.isEmpty {
      await sharing.withhold(session.megolm, of: room, from: refused, code: "m.unverified", as: own)
      session.refused.formUnion(refused)
    }
    state.withLock { [session] state in
      if state.sessions.count >= Self.mostSessions { state.sessions.removeAll() }
      state.sessions[room] = session
    }
  }

  /// The joined members, sorted. Asked for each message: those who left must not read the next one.
  private func members(of room: String) async throws(DeliveryError) -> [String] {
    let answer = try await server.ask(
      .get, "/_matrix/client/v3/rooms/\(room.percentEncoded())/joined_members", replyBytes: Self.memberBytes)
    guard answer.isSuccess, let joined = answer.json?["joined"]?.members else { throw server.faults.error(answer) }
    guard joined.count <= Self.mostMembers else {
      throw DeliveryError(
        .encryptedRoom,
        "the encrypted room \(room) has \(joined.count) members, and keys go to \(Self.mostMembers) at most; "
          + "send to a smaller room")
    }
    return joined.keys.sorted()
  }

  /// The content of `m.room.encryption`; nil from a homeserver that takes it back, which is not believed.
  private func rules(of room: String) async throws(DeliveryError) -> JSONValue? {
    let answer = try await server.ask(.get, "/_matrix/client/v3/rooms/\(room.percentEncoded())/state/m.room.encryption")
    if answer.status == 404, answer.code == "M_NOT_FOUND" { return nil }
    guard answer.isSuccess, let rules = answer.json else { throw server.faults.error(answer) }
    guard rules["algorithm"]?.text == "m.megolm.v1.aes-sha2" else {
      throw DeliveryError(
        .encryptedRoom,
        "the room \(room) is encrypted with an unknown algorithm, so nothing is sent there; use another room")
    }
    return rules
  }

  private func encrypted(
    _ content: [UInt8], in room: String, as own: MatrixIdentity
  ) throws(DeliveryError) -> OutgoingEvent {
    // The content is JSON already, so it is inserted as it is.
    let head = JSONValue.object(["room_id": .text(room), "type": .text("m.room.message")]).canonical ?? []
    let plain = head.dropLast() + ",\"content\":".utf8 + content + "}".utf8
    let (bytes, session) = try usingOlm { () throws(OlmError) in
      try state.withLock { state throws(OlmError) in
        guard var session = state.sessions[room] else { throw .exhausted }
        let bytes = try session.megolm.encrypt(Array(plain))
        session.messages += 1
        state.sessions[room] = session
        return (bytes, session.megolm.id)
      }
    }
    let cipher = bytes.unpaddedBase64
    let event: JSONObjectText = [
      "algorithm": "m.megolm.v1.aes-sha2", "sender_key": own.identityKey.publicKey.base64, "device_id": own.device,
      "session_id": session, "ciphertext": cipher,
    ]
    return OutgoingEvent(
      room: room.percentEncoded(), content: event.description, mark: SHA256Digest(of: Array(cipher.utf8)).hex)
  }
}
