import GRDB
import Matrix
import Messages
import Olm

extension KeyFile {
  /// Opens the messages to the device from one answer of `/sync` and keeps the room keys in them, all in one change: a
  /// used one-time key goes together with the session that it opened. From then on, messages to a device go over the
  /// session of its last message. Senders whose messages cannot be opened are noted (`takeUnreadable`).
  ///
  /// Anything else is passed over: messages of strangers cost their own decryption. An `m.forwarded_room_key` is never
  /// taken, since none is asked for; its sender could claim any author.
  ///
  /// - Parameter isHeard: whether a room is listened to. Keys of other rooms are not kept.
  /// - Returns: the rooms of new keys whose senders are not known as members.
  package func take(
    _ events: [JSONValue], for device: OwnDevice, now: Timestamp, isHeard: @escaping @Sendable (String) -> Bool
  ) async throws(DeliveryError) -> Set<String> {
    let envelopes = events.compactMap { OlmEnvelope($0, for: device) }
    if envelopes.isEmpty { return [] }
    return try await change(sessionsOf: device) { database, live in
      var rooms: Set<String> = []
      for envelope in envelopes {
        let plain: [UInt8]
        switch try Self.open(envelope, for: device, now, database, &live) {
        case .opened(let opened): plain = opened
        case .repeated: continue
        case .unreadable:
          try Self.noteUnreadable(envelope, now, database)
          continue
        }
        guard let payload = OlmPayload(plain, from: envelope.sender, to: device), payload.type == "m.room_key",
          let key = RoomKey(payload, from: envelope), isHeard(key.room)
        else { continue }
        if try key.keep(now, in: database) { rooms.insert(key.room) }
      }
      return rooms
    }
  }

  private enum Opening {
    /// The plaintext. The session is written.
    case opened([UInt8])
    /// It was opened before.
    case repeated
    case unreadable
  }

  private static func open(
    _ envelope: OlmEnvelope, for device: OwnDevice, _ now: Timestamp, _ database: Database, _ live: inout LiveSessions
  ) throws -> Opening {
    let (message, sessions): (OlmMessage, [String])
    switch envelope.body {
    case .normal(let normal):
      message = normal
      sessions = try String.fetchAll(
        database, sql: "SELECT session FROM olm WHERE senderKey = ? ORDER BY usedAt DESC",
        arguments: [envelope.senderKey.base64])
    case .preKey(let first):
      let id = first.keys.sessionID
      if try live.stored(id, with: envelope.senderKey, database) == nil {
        return try accept(first, from: envelope, as: device, now, database, &live)
      }
      (message, sessions) = (first.message, [id])
    }
    var isRepeated = false
    for id in sessions {
      guard var session = try live.stored(id, with: envelope.senderKey, database) else { continue }
      switch Result(catching: { () throws(OlmError) in try session.decrypt(message) }) {
      case .success(let plain):
        try write(session, with: envelope.senderKey, of: envelope.sender, now, database)
        live.use(session, with: envelope.senderKey)
        return .opened(plain)
      case .failure(let error): isRepeated = isRepeated || error == .usedKey
      }
    }
    return isRepeated ? .repeated : .unreadable
  }

  /// Accepts a session that the sender opened. Its one-time key is removed.
  private static func accept(
    _ first: OlmPreKeyMessage, from envelope: OlmEnvelope, as device: OwnDevice, _ now: Timestamp,
    _ database: Database, _ live: inout LiveSessions
  ) throws -> Opening {
    guard let (pair, isFallback) = try pair(first.keys.oneTimeKey, database),
      let (session, plain) = try? OlmSession.accept(first, as: device.identity, oneTimeKey: pair)
    else { return .unreadable }
    try write(session, with: envelope.senderKey, of: envelope.sender, now, database)
    live.use(session, with: envelope.senderKey)
    live.noteOpening(by: envelope.senderKey)
    if !isFallback {
      try database.execute(sql: "DELETE FROM offered WHERE public = ?", arguments: [first.keys.oneTimeKey.base64])
    }
    return .opened(plain)
  }
}
