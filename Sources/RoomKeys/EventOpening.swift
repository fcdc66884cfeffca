import Digests
import FoundationEssentials
import GRDB
import Matrix
import Messages
import Olm

/// The outcome for an encrypted event.
package enum OpenedEvent: Sendable {
  /// The event as its sender made it. Its content is the sender's, hostile or not.
  case opened(JSONValue)
  /// Its key or its sender's device is not known yet; it is kept.
  case waits
  case refused(EventRefusal)
}

/// The devices of users, as their homeservers and their own signatures have them.
package protocol SenderDevices: Sendable {
  /// Looks for the devices of many users at once. Users that are not found now are looked for alone.
  func prepare(_ users: Set<String>) async

  /// The signing key of the user's device that has this identity key; nil if the user has none.
  ///
  /// - Throws: if nobody can say so now.
  func fingerprint(
    of identityKey: Curve25519PublicKey, user: String
  ) async throws(DeliveryError) -> Ed25519PublicKey?
}

extension KeyFile {
  /// Milliseconds until a sender's device is looked for again.
  static let retry: Int64 = 60_000

  /// Opens events of timelines, in their order, in one change. Those that cannot be opened yet are kept in the same
  /// change, so that the position may move on behind them.
  ///
  /// Each message of a session belongs to the first event of a user that used it; another event of that user is a
  /// replay.
  ///
  /// - Parameter keeping: whether an opened event that waited goes on waiting until `done`.
  /// - Throws: if the disk refuses. An event whose sender's device cannot be looked up waits like one without that device.
  package func open(
    _ events: [EncryptedEvent], devices: any SenderDevices, now: Timestamp, keeping: Bool = false
  ) async throws(DeliveryError) -> [OpenedEvent] {
    if events.isEmpty { return [] }
    try await verify(events, devices)
    return try await change { database in
      try events.map { event in
        do {
          guard let opened = try Self.open(event, now, database) else {
            try Self.keep(event, now, database)
            return .waits
          }
          if !keeping { try Self.forget(event.id, database) }
          return .opened(opened)
        } catch let refusal as EventRefusal {
          try Self.forget(event.id, database)
          return .refused(refusal)
        }
      }
    }
  }

  /// The events that waited and whose keys are there now: those to try again, oldest first.
  package func due(now: Timestamp, limit: Int = 50) async throws(DeliveryError) -> [EncryptedEvent] {
    let rows = try await read { database in
      try Row.fetchAll(
        database,
        sql: """
          SELECT event, room, body FROM waiting WHERE retryAt <= ? AND EXISTS (SELECT 1 FROM roomKeys
            WHERE roomKeys.room = waiting.room AND roomKeys.session = waiting.session AND roomKeys.user = waiting.user)
            ORDER BY rowid LIMIT ?
          """, arguments: [now.milliseconds, limit]
      ).map { row in (event: row["event"] as String, room: row["room"] as String, body: row["body"] as String) }
    }
    var (events, damaged): ([EncryptedEvent], [String]) = ([], [])
    for row in rows {
      if let event = JSONValue(parsing: Array(row.body.utf8)).flatMap({ EncryptedEvent($0, in: row.room) }) {
        events.append(event)
      } else {
        damaged.append(row.event)
      }
    }
    if damaged.isEmpty { return events }
    try await change { [damaged] database in for event in damaged { try Self.forget(event, database) } }
    return events.isEmpty ? try await due(now: now, limit: limit) : events
  }

  /// Removes events that waited and were handed on.
  package func done(_ events: [EncryptedEvent]) async throws(DeliveryError) {
    try await change { database in for event in events { try Self.forget(event.id, database) } }
  }

  /// Looks for the senders' devices of keys that are about to be used for the first time.
  private func verify(_ events: [EncryptedEvent], _ devices: any SenderDevices) async throws(DeliveryError) {
    let unverified = try await read { database in
      try events.compactMap { event in
        try Claim.fetchOne(
          database,
          sql: """
            SELECT room, session, user, senderKey, fingerprint FROM roomKeys
              WHERE room = ? AND session = ? AND user = ? AND NOT isVerified
            """, arguments: [event.room, event.session, event.sender])
      }
    }
    if unverified.isEmpty { return }
    await devices.prepare(Set(unverified.map(\.user)))
    for claim in Set(unverified) {
      // One user, whose list may be too large on purpose, must not stop the others.
      guard let key = Curve25519PublicKey(base64: claim.senderKey),
        let found = try? await devices.fingerprint(of: key, user: claim.user)
      else { continue }
      let isRight = found.base64 == claim.fingerprint
      try await change { database in
        try database.execute(
          sql: isRight
            ? "UPDATE roomKeys SET isVerified = 1 WHERE room = ? AND session = ? AND user = ?"
            : "DELETE FROM roomKeys WHERE room = ? AND session = ? AND user = ?",
          arguments: [claim.room, claim.session, claim.user])
      }
    }
  }

  /// A device that a key claims as its sender.
  private struct Claim: Hashable, Decodable, FetchableRecord {
    let room: String
    let session: String
    let user: String
    let senderKey: String
    let fingerprint: String
  }

  /// nil if the key is not there or begins later, or if its sender's device was not found.
  private static func open(_ event: EncryptedEvent, _ now: Timestamp, _ database: Database) throws -> JSONValue? {
    guard
      let row = try Row.fetchOne(
        database, sql: "SELECT key, isVerified FROM roomKeys WHERE room = ? AND session = ? AND user = ?",
        arguments: [event.room, event.session, event.sender]),
      row["isVerified"] as Bool, let bytes = [UInt8](base64: row["key"] as String),
      let key = try? MegolmSessionKey(exported: bytes)
    else { return nil }
    let plain: [UInt8]
    do { plain = try key.decrypt(event.message) } catch {
      // The same session may come again as known from an earlier message.
      if case .unknownIndex = error { return nil }
      throw EventRefusal(error.description)
    }
    let number = Int64(event.message.index)
    let first = try String.fetchOne(
      database, sql: "SELECT event FROM opened WHERE session = ? AND user = ? AND number = ?",
      arguments: [event.session, event.sender, number])
    guard first == nil || first == event.id else { throw EventRefusal("it repeats another event") }
    let opened = try event.decrypted(plain)
    try database.execute(
      sql: "INSERT OR IGNORE INTO opened (session, user, number, event) VALUES (?, ?, ?, ?)",
      arguments: [event.session, event.sender, number, event.id])
    // The homeserver has an event of this user in the room.
    try database.execute(
      sql: "UPDATE roomKeys SET usedAt = ?, isMember = 1 WHERE room = ? AND session = ? AND user = ?",
      arguments: [now.milliseconds, event.room, event.session, event.sender])
    try database.execute(sql: "UPDATE olm SET isMember = 1 WHERE user = ? AND NOT isMember", arguments: [event.sender])
    return opened
  }

  private static func keep(_ event: EncryptedEvent, _ now: Timestamp, _ database: Database) throws {
    let body = String(decoding: try JSONEncoder().encode(event.body), as: UTF8.self)
    let isVerified = try Bool.fetchOne(
      database, sql: "SELECT isVerified FROM roomKeys WHERE room = ? AND session = ? AND user = ?",
      arguments: [event.room, event.session, event.sender])
    // A key that is there and does not fit has to be replaced first.
    let retryAt =
      switch isVerified {
      case nil: Int64(0)
      case false: now.milliseconds + retry
      default: Int64.max
      }
    try database.execute(
      sql: """
        INSERT INTO waiting (event, room, session, user, body, receivedAt, retryAt) VALUES (?, ?, ?, ?, ?, ?, ?)
          ON CONFLICT DO UPDATE SET retryAt = excluded.retryAt
        """,
      arguments: [
        event.id, event.room, event.session, event.sender, body, now.milliseconds, retryAt,
      ])
  }

  private static func forget(_ event: String, _ database: Database) throws {
    try database.execute(sql: "DELETE FROM waiting WHERE event = ?", arguments: [event])
  }
}
