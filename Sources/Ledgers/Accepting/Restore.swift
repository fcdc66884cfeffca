import GRDB
import Messages

/// A request found in the spool after its ledger was lost. Rows of conversation and request are not known yet.
package struct FoundRequest: Sendable {
  package var row: RequestRow
  /// nil if unreadable.
  package var conversation: ConversationID?
  package var messages: [MessageRow]

  /// - Parameters:
  ///   - error: the reason of a failure.
  ///   - messages: in order. The `file` of a sent one is unknown, and so is its digest.
  package init(_ row: RequestRow, error: String?, in conversation: ConversationID?, _ messages: [MessageRow]) {
    self.row = row
    self.row.droppedAs = row.request
    self.row.cause = error.map { _ in .rejected }
    self.row.error = error
    self.row.bytes = messages.reduce(0) { $0 + $1.bytes }
    self.row.isRestored = true
    self.conversation = conversation
    self.messages = messages
  }
}

/// A cached photo whose row is lost. Rows of conversations are not known yet.
package struct FoundPhoto: Sendable {
  package var row: PhotoRow
  let conversation: ConversationID
  /// Its origin; nil for a sent photo. The digest is empty if unknown.
  let reception: ReceivedRow?

  /// - Parameter row: its `bytes` are 0 if only thumbnails are left.
  package init(_ row: PhotoRow, in conversation: ConversationID, reception: ReceivedRow?) {
    self.row = row
    self.conversation = conversation
    self.reception = reception
    self.row.viewedAt = row.createdAt
    if reception == nil { self.row.uploadedAt = row.createdAt } else { self.row.downloadedAt = row.createdAt }
  }
}

extension Ledger {
  /// Notes that the ledger was rebuilt and does not know the objects stored before.
  package func noteRebuilt() async throws {
    try await write { try $0.run("INSERT OR IGNORE INTO janitor VALUES (?, '1')", LedgerSchema.rebuilt) }
  }

  /// Appends requests found in the spool, in this order. The network is asked whether their messages were published.
  package func restore(_ requests: [FoundRequest], at now: Timestamp) async throws {
    try await write { database in
      for request in requests { try database.restore(request, now: now) }
    }
  }

  /// Enters photos of the cache. Without keys they cannot be fetched again and count as last copies. Received ones are
  /// hidden, whatever was revealed, and are not received a second time.
  package func restore(_ photos: [FoundPhoto], at now: Timestamp) async throws {
    try await write { database in
      for photo in photos {
        let conversation = try database.conversation(photo.conversation, now: now)
        if var reception = photo.reception {
          reception.message = photo.row.message
          reception.inbox = photo.row.inbox
          reception.conversationRow = conversation
          reception.attachment = LedgerSchema.lostAttachment
          reception.state = .downloaded
          try database.insert(reception)
          try database.count("received")
        }
        var row = photo.row
        row.conversationRow = conversation
        row.recency = try database.nextRecency()
        try database.insert(row)
      }
    }
  }
}

extension Database {
  fileprivate func restore(_ found: FoundRequest, now: Timestamp) throws {
    let conversation = try found.conversation.map { try self.conversation($0, now: now) }
    var row = found.row
    row.conversationRow = conversation
    // A duplicate waits for its first request, as before.
    if row.duplicateOf == nil, row.key != nil, row.state == .queued {
      row.duplicateOf = try value(
        """
        SELECT request FROM requests WHERE inbox = ? AND idempotency_key = ? AND digest = ? AND conversation_id = ?
          AND (state = 'sent' OR state = 'queued') ORDER BY id LIMIT 1
        """, row.inbox, row.key, row.digest, conversation)
    }
    let request = try insert(row) ?? 0
    try count(row.state)
    guard let conversation else { return }
    try run("UPDATE conversations SET known = 1 WHERE id = ?", conversation)
    for (position, message) in found.messages.enumerated() {
      var message = message
      message.requestRow = request
      message.conversationRow = conversation
      message.position = position
      try insert(message)
    }
    try addWaiting(found.messages.count { !$0.state.isFinal }, to: conversation, now: now)
  }
}
