import GRDB
import Messages
import Olm

/// A device with a message to ours that cannot be opened.
package struct UnreadableSender: Hashable, Sendable {
  package let user: String
  package let identityKey: Curve25519PublicKey

  package init(user: String, identityKey: Curve25519PublicKey) {
    self.user = user
    self.identityKey = identityKey
  }
}

/// Source: the Matrix specification, "Recovering from undecryptable messages".
extension KeyFile {
  package static let mostUnreadable = 500
  /// Milliseconds until another session is opened with such a device.
  static let reopeningPause: Int64 = 3600 * 1000

  /// Notes the sender of a message that cannot be opened, unless a session was opened with it in the last hour: the
  /// message may have been on its way.
  static func noteUnreadable(_ envelope: OlmEnvelope, _ now: Timestamp, _ database: Database) throws {
    try database.execute(
      sql: """
        INSERT INTO unreadable (user, senderKey, failedAt) VALUES (?, ?, ?)
          ON CONFLICT DO UPDATE SET failedAt = excluded.failedAt WHERE reopenedAt IS NULL OR reopenedAt <= ?
        """,
      arguments: [
        envelope.sender, envelope.senderKey.base64, now.milliseconds, now.milliseconds - reopeningPause,
      ])
  }

  /// The senders with which a new session has to be opened, each at most once an hour. Strangers are left out: a member
  /// is known as such, or has an event that waits.
  package func takeUnreadable(now: Timestamp) async throws(DeliveryError) -> Set<UnreadableSender> {
    try await change { database in
      let rows = try Row.fetchAll(
        database,
        sql: """
          UPDATE unreadable SET reopenedAt = ? WHERE (reopenedAt IS NULL OR failedAt > reopenedAt)
            AND user IN (SELECT user FROM olm WHERE isMember UNION SELECT user FROM roomKeys WHERE isMember
              UNION SELECT user FROM waiting)
            RETURNING user, senderKey
          """, arguments: [now.milliseconds])
      return Set(
        rows.compactMap { row in
          Curve25519PublicKey(base64: row["senderKey"] as String).map { key in
            UnreadableSender(user: row["user"], identityKey: key)
          }
        })
    }
  }
}
