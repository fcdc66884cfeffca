import GRDB
import Messages

/// Old announcements of photos that nobody fetched. Their addresses and keys are deleted; their ids stay, so that
/// repetitions are recognised.
extension Ledger {
  /// The number of announcements to forget: neither fetched nor wanted since `before`.
  package func forgettableAnnouncements(before: Timestamp) async throws -> Int {
    try await read { database in
      try database.value(
        "SELECT count(*) FROM received WHERE \(LedgerSchema.forgettable) AND \(LedgerSchema.forgettableSince) < ?",
        before)
        ?? 0
    }
  }

  /// Forgets the announcements that were neither fetched nor wanted since `before`. Returns how many.
  package func forgetAnnouncements(before: Timestamp) async throws -> Int {
    try await writeInBatches { database in
      let messages: [MessageID] = try database.values(
        """
        SELECT message FROM received WHERE \(LedgerSchema.forgettable) AND \(LedgerSchema.forgettableSince) < ?
        ORDER BY \(LedgerSchema.forgettableSince) LIMIT 256
        """, before)
      for message in messages where try database.move(message, .forget) {
        try database.run(
          """
          UPDATE received SET attachment = '\(LedgerSchema.lostAttachment)', host = '', sender = NULL, next_attempt = NULL, cause = NULL, error = NULL
          WHERE message = ?
          """, message.text)
      }
      return messages.count
    }
  }
}
