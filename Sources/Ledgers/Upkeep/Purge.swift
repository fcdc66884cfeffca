import GRDB
import Messages

/// A conversation that is being purged; nothing of it is published any more.
package struct PurgedConversation: Sendable, Equatable {
  package let row: Int64
  package let conversation: ConversationID
  /// Messages that may be in progress: neither sent nor failed.
  package let messages: [MessageID]
}

/// A purge. The tombstone comes first and the rows last. In between the caller removes files; every step may be
/// repeated.
extension Ledger {
  private static let purgeBatch = 128

  /// Marks a conversation as purged. The same commit cancels its waiting messages and drafts; none is published after
  /// that. Returns nil if the ledger does not know it.
  package func beginPurge(of conversation: ConversationID, at now: Timestamp) async throws -> PurgedConversation? {
    try await write { database in
      guard let row = try database.knownConversation(conversation) else { return nil }
      let messages: [MessageID] = try database.values(
        "SELECT message FROM messages WHERE conversation_id = ? AND state NOT IN ('sent','failed')", row)
      try database.execute(
        sql: """
          UPDATE conversations SET purged = 1, waiting = 0, held = 0, waits_for = NULL WHERE id = ?;
          UPDATE messages SET state = 'cancelled', next_attempt = NULL WHERE conversation_id = ? AND \(LedgerSchema.waiting);
          UPDATE requests SET filed = 1 WHERE conversation_id = ? AND filed <> 1;
          UPDATE requests SET state = 'cancelled', finished_at = ? WHERE conversation_id = ? AND state IN ('queued','draft');
          """,
        arguments: [row, row, row, now.milliseconds, row])
      try database.count(.cancelled, database.changesCount)
      return PurgedConversation(row: row, conversation: conversation, messages: messages)
    }
  }

  package func begunPurges() async throws -> [ConversationID] {
    try await read { try $0.values("SELECT conversation FROM conversations WHERE purged = 1") }
  }

  /// At most `limit` requests of a purged conversation after the row `after`.
  package func purgedRequests(
    of purged: PurgedConversation, after: Int64, limit: Int
  ) async throws -> [RequestRow] {
    try await read { database in
      try database.all(
        RequestRow.self, "WHERE conversation_id = ? AND id > ? ORDER BY id LIMIT ?", purged.row, after, limit)
    }
  }

  /// Deletes the rows of refused requests, whose conversation the ledger does not know.
  package func forgetRefused(_ requests: [String]) async throws {
    try await write { database in
      for request in requests {
        try database.run("DELETE FROM requests WHERE request = ? AND conversation_id IS NULL", request)
      }
    }
  }

  /// Deletes all rows of a purged conversation, after its work has ended and its files are deleted. Uploads
  /// stay, without their messages, if their objects must still be deleted from a store or must never be deleted.
  /// Returns the numbers of requests and photos.
  package func endPurge(of purged: PurgedConversation) async throws -> (requests: Int, photos: Int) {
    let row = purged.row
    let limit = Self.purgeBatch
    let photos = try await writeInBatches { try $0.purgeBatch(of: "photos", in: row, limit: limit) }
    for table in ["messages", "received"] {
      _ = try await writeInBatches { try $0.purgeBatch(of: table, in: row, limit: limit) }
    }
    let requests = try await writeInBatches { database in
      try database.run(
        "DELETE FROM requests WHERE id IN (SELECT id FROM requests WHERE conversation_id = ? LIMIT ?)", row, limit)
      return database.changesCount
    }
    try await write { database in
      try database.execute(
        sql: "DELETE FROM preferences WHERE conversation_id = ?; DELETE FROM conversations WHERE id = ? AND purged = 1",
        arguments: [row, row])
    }
    return (requests, photos)
  }
}

extension Database {
  /// Deletes some rows of a purged conversation with all that depends on their messages. Returns how many.
  fileprivate func purgeBatch(of table: String, in conversation: Int64, limit: Int) throws -> Int {
    let found: [MessageID] = try values(
      "SELECT message FROM \(table) WHERE conversation_id = ? ORDER BY rowid LIMIT ?", conversation, limit)
    // One lookup per row: in a large ledger the rows are far apart.
    let statements = [
      "UPDATE uploads SET state = 'abandoned' WHERE state = 'started' AND message = ?",
      "DELETE FROM uploads WHERE state IN ('offered','published') AND sealed = 1 AND message = ?",
      "UPDATE uploads SET message = '' WHERE message = ?",
      "DELETE FROM attempts WHERE message = ?",
      "DELETE FROM photos WHERE message = ?",
      "DELETE FROM \(table) WHERE message = ?",
    ]
    for message in found {
      for statement in statements { try run(statement, message) }
    }
    return found.count
  }
}
