import GRDB
import Messages

/// A conversation with waiting messages, and the reason.
@dynamicMemberLookup
package struct WaitingConversation: Sendable {
  fileprivate let facts: ConversationRow
  /// The due time of its first message.
  package let nextAttempt: Timestamp?
  package let error: String?

  package var name: String { facts.conversation.text }
  package subscript<Value>(dynamicMember path: KeyPath<ConversationRow, Value>) -> Value { facts[keyPath: path] }
}

extension LedgerView {
  /// At most `limit` conversations with waiting messages: those in progress, then those next in line, then the held
  /// ones, each by name. The cost does not depend on the queue.
  package func waitingConversations(limit: Int, only name: String? = nil) throws -> [WaitingConversation] {
    try read { database in
      var rows = [Int64]()
      let questions =
        name == nil
        ? [
          """
          SELECT DISTINCT conversation_id FROM messages INDEXED BY messages_in_progress
          WHERE \(LedgerSchema.inHand) AND draft = 0 LIMIT ?
          """,
          "SELECT id FROM conversations WHERE waiting > 0 AND held = 0 ORDER BY due LIMIT ?",
          "SELECT id FROM conversations WHERE held <> 0 AND waiting > 0 LIMIT ?",
        ] : ["SELECT id FROM conversations WHERE waiting > 0 AND conversation = ? LIMIT ?"]
      for question in questions {
        let arguments: StatementArguments = name.map { [$0, limit] } ?? [limit]
        for row in try Int64.fetchAll(database, sql: question, arguments: arguments)
        where rows.count < limit && !rows.contains(row) { rows.append(row) }
      }
      return try rows.compactMap { try Self.conversation($0, in: database) }.sorted { $0.name < $1.name }
    }
  }

  /// Its first waiting messages, in order.
  package func firstMessages(of conversation: WaitingConversation, limit: Int) throws -> [QueueLine] {
    try read { database in
      try QueueLine.fetchAll(
        database.kept(
          """
          SELECT \(QueueLine.columns)
          FROM messages m \(LedgerSchema.byWaiting)
            JOIN requests r ON r.id = m.request_id JOIN conversations c ON c.id = m.conversation_id
          WHERE m.conversation_id = ? AND m.draft = 0 AND \(LedgerSchema.waiting(in: "m.")) ORDER BY m.id LIMIT ?
          """),
        arguments: [conversation.row, limit])
    }
  }

  private static func conversation(_ row: Int64, in database: Database) throws -> WaitingConversation? {
    try database.first(
      """
      SELECT \(ConversationRow.table.columns(of: "c")), m.next_attempt, m.error
      FROM conversations c LEFT JOIN messages m ON m.id =
        (SELECT min(id) FROM messages \(LedgerSchema.byWaiting)
          WHERE conversation_id = c.id AND draft = 0 AND \(LedgerSchema.waiting))
      WHERE c.id = ?
      """, row
    ) { row in
      WaitingConversation(facts: row.row(), nextAttempt: row["next_attempt"], error: row["error"])
    }
  }
}
