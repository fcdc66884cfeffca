import GRDB
import Messages

extension Ledger {
  /// The conversations that may be served now: not held and not waiting for a retry, longest due first.
  package func dueConversations(at now: Timestamp, limit: Int) async throws -> [Int64] {
    try await ask { database in
      try database.values(
        "SELECT id FROM conversations WHERE waiting > 0 AND held = 0 AND due <= ? ORDER BY due LIMIT ?", now, limit)
    }
  }

  /// The same with names, in pages.
  ///
  /// - Parameter last: the last one of the previous page.
  package func dueConversations(
    at now: Timestamp, behind last: ConversationRow?, limit: Int
  ) async throws -> [ConversationRow] {
    try await ask { database in
      try database.all(
        ConversationRow.self,
        "WHERE waiting > 0 AND held = 0 AND due <= ? AND (due, id) > (?, ?) ORDER BY due, id LIMIT ?",
        now, last?.due.milliseconds ?? .min, last?.row ?? 0, limit)
    }
  }

  /// The time at which the next waiting conversation becomes due, if any.
  package func nextDue(after now: Timestamp) async throws -> Timestamp? {
    try await ask { database in
      try database.value(
        "SELECT due FROM conversations WHERE waiting > 0 AND held = 0 AND due > ? ORDER BY due LIMIT 1", now)
    }
  }

  /// Moves a conversation to the end of the due ones.
  package func sendToBack(_ conversation: Int64, at now: Timestamp) async throws {
    try await write { database in
      try database.run("UPDATE conversations SET due = max(due, ?) WHERE id = ?", now.milliseconds, conversation)
    }
  }

  /// Limits all due times to `latest`, after a clock was set back.
  package func clampDue(to latest: Timestamp) async throws {
    try await write { database in
      try database.run(
        "UPDATE conversations SET due = ? WHERE waiting > 0 AND held = 0 AND due > ?",
        latest.milliseconds, latest.milliseconds)
    }
  }

  /// Makes conversations due that would wait because a clock was set back: those whose first message waits for no
  /// retry, or for one after an attempt in the future.
  package func forgetFuture(at now: Timestamp) async throws {
    try await write { database in try Self.forgetFuture(at: now, in: database) }
  }

  static func forgetFuture(at now: Timestamp, in database: Database) throws {
    try database.run(
      """
      UPDATE conversations SET due = ?1 WHERE waiting > 0 AND held = 0 AND due > ?1 AND waits_for IS NULL
        AND EXISTS (SELECT 1 FROM messages m WHERE m.id =
            (SELECT min(id) FROM messages \(LedgerSchema.byWaiting)
              WHERE conversation_id = conversations.id AND draft = 0 AND \(LedgerSchema.waitingHere))
          AND (m.next_attempt IS NULL
            OR EXISTS (SELECT 1 FROM attempts a WHERE a.message = m.message AND a.started_at > ?1)))
      """, now.milliseconds)
  }
}
