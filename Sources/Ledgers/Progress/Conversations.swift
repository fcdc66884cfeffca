import GRDB
import Messages

/// Counters of conversations, which every change of a message updates. Nothing else writes `waiting` and `due`.
extension Database {
  /// The row of a conversation, inserted if new.
  func conversation(_ conversation: ConversationID, now: Timestamp) throws -> Int64 {
    if let row = try knownConversation(conversation) { return row }
    try run("INSERT INTO conversations (conversation, due) VALUES (?, ?)", conversation.text, now.milliseconds)
    return lastInsertedRowID
  }

  /// The row of a conversation; nil if there is none.
  func knownConversation(_ conversation: ConversationID) throws -> Int64? {
    try value("SELECT id FROM conversations WHERE conversation = ?", conversation)
  }

  /// Counts `count` more waiting messages. An idle conversation becomes due.
  func addWaiting(_ count: Int, to conversation: Int64, now: Timestamp) throws {
    guard count > 0 else { return }
    try run(
      """
      UPDATE OR FAIL conversations SET due = CASE WHEN waiting = 0 THEN ? ELSE due END,
        waits_for = CASE WHEN waiting = 0 THEN NULL ELSE waits_for END, waiting = waiting + ?, known = 1
        WHERE id = ?
      """, now.milliseconds, count, conversation)
  }

  func removeWaiting(_ count: Int, from conversation: Int64) throws {
    guard count > 0 else { return }
    try run("UPDATE OR FAIL conversations SET waiting = waiting - ? WHERE id = ?", count, conversation)
  }
}
