import FoundationEssentials
import GRDB
import Matrix
import Messages
import Olm

extension KeyFile {
  /// The largest number of Olm sessions that are kept for one device.
  static let mostSessionsOfDevice = 5

  /// Opens the messages to the device from one answer of `/sync` and keeps the room keys in them, all in one change: a
  /// used one-time key goes together with the session that it opened.
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
    return try await change { database in
      var rooms: Set<String> = []
      for envelope in envelopes {
        guard let plain = try Self.open(envelope, for: device, now, database),
          let payload = OlmPayload(plain, from: envelope.sender, to: device), payload.type == "m.room_key",
          let key = RoomKey(payload, from: envelope), isHeard(key.room)
        else { continue }
        if try key.keep(now, in: database) { rooms.insert(key.room) }
      }
      return rooms
    }
  }

  /// The plaintext of a message, after writing its session; nil if it cannot be opened.
  private static func open(
    _ envelope: OlmEnvelope, for device: OwnDevice, _ now: Timestamp, _ database: Database
  ) throws -> [UInt8]? {
    switch envelope.body {
    case .normal(let message):
      for id in try String.fetchAll(
        database, sql: "SELECT session FROM olm WHERE senderKey = ? ORDER BY usedAt DESC",
        arguments: [envelope.senderKey.base64])
      {
        guard var session = try session(id, database), let plain = try? session.decrypt(message) else { continue }
        try write(session, of: envelope, now, database)
        return plain
      }
      return nil
    case .preKey(let message):
      if var session = try session(message.keys.sessionID, database) {
        guard let plain = try? session.decrypt(message) else { return nil }
        try write(session, of: envelope, now, database)
        return plain
      }
      guard let (pair, isFallback) = try pair(message.keys.oneTimeKey, database),
        let (session, plain) = try? OlmSession.accept(message, as: device.identity, oneTimeKey: pair)
      else { return nil }
      try write(session, of: envelope, now, database)
      if !isFallback {
        try database.execute(
          sql: "DELETE FROM offered WHERE public = ?", arguments: [message.keys.oneTimeKey.base64])
      }
      return plain
    }
  }

  /// A stored session; nil if there is none, and for a damaged row.
  private static func session(_ id: String, _ database: Database) throws -> OlmSession? {
    let state = try String.fetchOne(database, sql: "SELECT state FROM olm WHERE session = ?", arguments: [id])
    return state.flatMap { try? JSONDecoder().decode(OlmSession.self, from: Data($0.utf8)) }
  }

  private static func write(
    _ session: OlmSession, of envelope: OlmEnvelope, _ now: Timestamp, _ database: Database
  ) throws {
    let state = String(decoding: try JSONEncoder().encode(session), as: UTF8.self)
    try database.execute(
      sql: """
        INSERT INTO olm (session, senderKey, user, isMember, state, usedAt)
          VALUES (?, ?, ?, EXISTS (SELECT 1 FROM roomKeys WHERE user = ? AND isMember), ?, ?)
          ON CONFLICT DO UPDATE SET state = excluded.state, usedAt = excluded.usedAt
        """,
      arguments: [
        session.id, envelope.senderKey.base64, envelope.sender, envelope.sender, state, now.milliseconds,
      ])
    try database.execute(
      sql: """
        DELETE FROM olm WHERE session IN (SELECT session FROM olm WHERE senderKey = ?
          ORDER BY usedAt DESC, rowid DESC LIMIT -1 OFFSET ?)
        """, arguments: [envelope.senderKey.base64, Self.mostSessionsOfDevice])
  }
}
