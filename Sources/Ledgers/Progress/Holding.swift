import GRDB
import Messages

extension Ledger {
  /// Holds or releases a conversation. Nothing is lost. Only a hold makes a conversation known.
  ///
  /// - Returns: whether that changed anything; nil if a conversation to release is not known.
  package func setHeld(_ isHeld: Bool, _ conversation: ConversationID, at now: Timestamp) async throws -> Bool? {
    try await write { database in
      let known = try database.knownConversation(conversation)
      guard let id = try known ?? (isHeld ? database.conversation(conversation, now: now) : nil) else { return nil }
      try database.run("UPDATE conversations SET held = ? WHERE id = ? AND held <> ?", isHeld, id, isHeld)
      guard database.changesCount > 0 else { return false }
      // No probe ran meanwhile. If its destination still fails, it waits again.
      if !isHeld { try database.hurry(id, at: now) }
      return true
    }
  }

  /// Ends all waiting for retries. Returns how many conversations were waiting.
  package func flush(at now: Timestamp) async throws -> Int {
    try await write { database in
      try database.run(
        """
        UPDATE messages SET next_attempt = NULL WHERE next_attempt IS NOT NULL AND draft = 0
          AND \(LedgerSchema.waiting) AND conversation_id IN (SELECT id FROM conversations WHERE waiting > 0 AND held = 0 AND due > ?)
        """, now.milliseconds)
      try database.run(
        "UPDATE messages SET next_attempt = ? WHERE draft = 1 AND next_attempt > ?", now.milliseconds, now.milliseconds)
      try database.hurryDownloads()
      // Held conversations must not wait either once they are released.
      try database.run(
        "UPDATE conversations SET due = ?, waits_for = NULL WHERE waiting > 0 AND held <> 0 AND due > ?",
        now.milliseconds, now.milliseconds)
      try database.run(
        "UPDATE conversations SET due = ?, waits_for = NULL WHERE waiting > 0 AND held = 0 AND due > ?",
        now.milliseconds, now.milliseconds)
      return database.changesCount
    }
  }
}

extension Database {
  /// Makes a conversation due that waits for a destination or a retry.
  func hurry(_ conversation: Int64, at now: Timestamp) throws {
    try run("UPDATE conversations SET waits_for = NULL, due = min(due, ?) WHERE id = ?", now.milliseconds, conversation)
  }
}
