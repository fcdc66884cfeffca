import GRDB
import Messages

/// Requests with the idempotency key and contents of an earlier, unsent one. They wait in order with `duplicate_of`, in
/// the same conversation. If the earlier one is sent, they end in the same commit. If it fails or is cancelled, the
/// first of them to reach the front of the conversation is sent instead.
extension Ledger {
  /// Decides a duplicate at the front of its conversation, whose earlier request is over. Returns whether it ended as a
  /// duplicate; otherwise it is to be sent.
  package func decideDuplicate(_ message: QueuedMessage, at now: Timestamp) async throws -> Bool {
    try await write { database in
      let sent: String? = try database.value(
        """
        SELECT first.request FROM requests first JOIN requests r ON r.inbox = first.inbox
          AND r.idempotency_key = first.idempotency_key AND r.digest = first.digest
        WHERE r.id = ? AND r.state = 'queued' AND first.state = 'sent'
        """, message.requestRow)
      if let sent {
        try database.endAsDuplicate(message.requestRow, of: sent, at: now)
      } else {
        try database.run("UPDATE requests SET duplicate_of = NULL WHERE id = ?", message.requestRow)
      }
      return sent != nil
    }
  }
}

extension Database {
  func endDuplicates(of request: Int64, at now: Timestamp) throws {
    guard let sent = try first(RequestRow.self, "WHERE id = ? AND idempotency_key IS NOT NULL", request) else { return }
    let duplicates: [Int64] = try values(
      """
      SELECT id FROM requests WHERE inbox = ? AND idempotency_key = ? AND digest = ? AND state = 'queued'
        AND duplicate_of IS NOT NULL
      """, sent.inbox, sent.key, sent.digest)
    for duplicate in duplicates { try endAsDuplicate(duplicate, of: sent.request, at: now) }
  }

  /// Ends a request without sending it, and sets aside its uploads, as of a draft's photos, for deletion.
  fileprivate func endAsDuplicate(_ duplicate: Int64, of request: String, at now: Timestamp) throws {
    guard var row = try first(RequestRow.self, "WHERE id = ? AND state = 'queued'", duplicate) else { return }
    let waiting: Int? = try value(
      "SELECT count(*) FROM messages WHERE request_id = ? AND \(LedgerSchema.waiting)", duplicate)
    try run("UPDATE requests SET request = '.' || id WHERE id = ?", duplicate)
    row.state = .duplicate
    row.duplicateOf = request
    row.finishedAt = now
    let ended = try insert(row)
    try count(.duplicate)
    try run("UPDATE messages SET request_id = ? WHERE request_id = ? AND state = 'sent'", ended, duplicate)
    try setAside(duplicate)
    let bare = "request_id = ? AND NOT EXISTS (SELECT 1 FROM photos WHERE message = messages.message)"
    try run("DELETE FROM attempts WHERE message IN (SELECT message FROM messages WHERE \(bare))", duplicate)
    try run("DELETE FROM messages WHERE \(bare)", duplicate)
    try removeWaiting(waiting ?? 0, from: row.conversationRow ?? 0)
    try endSetAside(duplicate)
  }
}
