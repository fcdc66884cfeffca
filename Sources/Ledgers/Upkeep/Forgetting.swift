import GRDB
import Messages

/// Announcements of photos that nobody fetched are forgotten for their age: where they lie and their keys go. Their ids
/// stay, so that whoever repeats one is known to repeat it, however late.
extension Ledger {
  /// How many announcements were neither fetched nor wanted since `before`, and are not forgotten.
  package func forgettableAnnouncements(before: Timestamp) async throws -> Int {
    try await read { database in
      try Int.fetchOne(
        database,
        sql: """
          SELECT count(*) FROM received WHERE \(LedgerSchema.forgettable) AND \(LedgerSchema.forgettableSince) < ?
          """,
        arguments: [before.milliseconds]) ?? 0
    }
  }

  /// Forgets announcements that were neither fetched nor wanted since `before`, the oldest first.
  ///
  /// - Returns: how many; no more than `limit`.
  package func forgetAnnouncements(before: Timestamp, limit: Int) async throws -> Int {
    try await write { database in
      let messages = try String.fetchAll(
        database,
        sql: """
          SELECT message FROM received WHERE \(LedgerSchema.forgettable) AND \(LedgerSchema.forgettableSince) < ?
          ORDER BY \(LedgerSchema.forgettableSince) LIMIT ?
          """,
        arguments: [before.milliseconds, limit]
      ).map(MessageID.init(unchecked:))
      for message in messages where try database.move(message, .forget) {
        try database.execute(
          sql: """
            UPDATE received SET attachment = '\(LedgerSchema.lostAttachment)', host = '', sender = NULL, next_attempt = NULL, cause = NULL, error = NULL
            WHERE message = ?
            """,
          arguments: [message.text])
      }
      return messages.count
    }
  }
}
