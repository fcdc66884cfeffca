import GRDB
import Messages

/// The result of cancelling a request.
package enum Cancellation: Sendable, Equatable, Codable {
  case unknown
  /// It was already over.
  case tooLate(RequestState)
  /// Nothing of it was or will be published.
  case cancelled
  /// The owner in the cluster was asked and has not answered yet.
  case asked
  /// These files were published or are being published; the rest is cancelled.
  case partly(published: [String])
}

extension Ledger {
  /// Cancels the messages of a request that the network does not have yet. Drafts need `abandonDraft`. Returns the
  /// result, and the cancelled messages.
  package func cancel(_ request: String, at now: Timestamp) async throws -> (Cancellation, [MessageID]) {
    try await write { database in
      let found = try database.first(RequestRow.self, "WHERE request = ?", request)
      guard let request = found, request.state != .draft, request.state != .abandoned else { return (.unknown, []) }
      guard request.state == .queued, let conversation = request.conversationRow else {
        return (.tooLate(request.state), [])
      }
      let id = request.row
      let cancellable = "state IN ('pending','preparing','uploading','uploaded')"
      let messages: [MessageID] = try database.values(
        "SELECT message FROM messages WHERE request_id = ? AND \(cancellable)", id)
      let first: Int64? = try database.value(
        """
        SELECT request_id FROM messages WHERE conversation_id = ? AND \(LedgerSchema.waitingHere) ORDER BY id LIMIT 1
        """, conversation)
      // The next messages need not wait for its destination or retry.
      if first == id { try database.hurry(conversation, at: now) }
      try database.cancelWaiting(ofRequest: id, in: conversation, where: cancellable)
      let published: [String] = try database.values(
        """
        SELECT file FROM messages WHERE request_id = ? AND state IN ('sent','publishing','relayed') ORDER BY position
        """, id)
      _ = try database.endRequestIfDone(id, at: now)
      return (published.isEmpty ? .cancelled : .partly(published: published), messages)
    }
  }

  /// Records a request that was cancelled before it was accepted and whose directory is gone, so that `show` knows it.
  ///
  /// - Parameters:
  ///   - conversation: where it was to go, if readable.
  ///   - inbox: nil if it names none; it never got the configured one.
  package func enterCancelled(
    _ name: String, droppedAs: String, inode: UInt64, born: Int64, to conversation: ConversationID?,
    from inbox: InboxID?, at now: Timestamp
  ) async throws {
    try await write { database in
      var row = RequestRow()
      row.request = name
      row.droppedAs = droppedAs
      row.inode = inode
      row.born = born
      row.conversationRow = try conversation.map { try database.conversation($0, now: now) }
      if let inbox { row.inbox = inbox }
      row.state = .cancelled
      row.acceptedAt = now
      row.finishedAt = now
      row.filed = 1
      try database.insert(row)
    }
  }
}
