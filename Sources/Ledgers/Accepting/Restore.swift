import GRDB
import Messages

/// A request found in the spool after its ledger was lost.
package struct FoundRequest: Sendable {
  package typealias Message = MessageRow

  package let row: RequestRow
  /// nil if unreadable.
  package let conversation: ConversationID?
  package let messages: [Message]

  /// - Parameters:
  ///   - digest: SHA-256 of all that the client wrote, in hexadecimal.
  ///   - isFiled: whether its directory is at its final place.
  package init(
    request: String, inode: UInt64, born: Int64, conversation: ConversationID?, inbox: InboxID, key: String?,
    digest: String?, state: RequestState, error: String?, duplicateOf: String?, acceptedAt: Timestamp,
    finishedAt: Timestamp?, isFiled: Bool, messages: [Message]
  ) {
    var row = RequestRow()
    row.request = request
    row.droppedAs = request
    row.inode = inode
    row.born = born
    row.inbox = inbox
    row.key = key
    row.digest = digest
    row.state = state
    row.cause = error.map { _ in .rejected }
    row.error = error
    row.bytes = messages.reduce(0) { $0 + $1.bytes }
    row.duplicateOf = duplicateOf
    row.acceptedAt = acceptedAt
    row.finishedAt = finishedAt
    row.filed = isFiled ? 1 : 0
    row.isRestored = true
    self.row = row
    self.conversation = conversation
    self.messages = messages
  }
}

extension MessageRow {
  /// A message found in the spool. The `file` of a sent one is unknown, and so is its digest.
  package init(
    message: MessageID, kind: MessageKind, file: String, bytes: Int, digest: String, state: MessageState,
    sentAt: Timestamp?, remote: String?
  ) {
    self.init()
    self.message = message
    self.kind = kind
    self.file = file
    self.bytes = bytes
    self.digest = digest
    self.state = state
    self.sentAt = sentAt
    self.remote = remote
    attempts = state == .publishing ? 1 : 0
  }
}

/// A cached photo whose row is lost.
package struct FoundPhoto: Sendable {
  /// The origin of a received photo.
  package struct Reception: Sendable {
    /// The message's id on its network.
    package let remote: String
    package let position: Int
    package let sender: SenderID?
    /// SHA-256 of the attachment as dropped, in hexadecimal; empty if unknown.
    package let digest: String
    package let receivedAt: Timestamp

    package init(remote: String, position: Int, sender: SenderID?, digest: String, receivedAt: Timestamp) {
      self.remote = remote
      self.position = position
      self.sender = sender
      self.digest = digest
      self.receivedAt = receivedAt
    }
  }

  package let row: PhotoRow
  let conversation: ConversationID
  /// nil for a sent photo.
  package let reception: Reception?

  /// - Parameters:
  ///   - path: its directory, relative to the spool.
  ///   - bytes: the size of the sent photo; 0 if only thumbnails are left, and `digest` is empty then.
  ///   - width: pixels; 0 without a receipt.
  package init(
    message: MessageID, inbox: InboxID, conversation: ConversationID, path: String, bytes: Int, digest: String,
    thumbnailBytes: Int, width: Int, height: Int, url: String?, createdAt: Timestamp, reception: Reception?
  ) {
    var row = PhotoRow(
      format: "", originalBytes: 0, originalWidth: 0, originalHeight: 0, bytes: bytes, width: width, height: height,
      digest: digest, path: path, thumbnailBytes: thumbnailBytes)
    row.message = message
    row.inbox = inbox
    row.url = url
    row.createdAt = createdAt
    row.viewedAt = createdAt
    if reception == nil { row.uploadedAt = createdAt } else { row.downloadedAt = createdAt }
    self.row = row
    self.conversation = conversation
    self.reception = reception
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
        if let reception = photo.reception { try database.restore(reception, of: photo, in: conversation) }
        var row = photo.row
        row.conversationRow = conversation
        row.recency = try database.nextRecency()
        try database.insert(row)
      }
    }
  }
}

extension Database {
  fileprivate func restore(_ reception: FoundPhoto.Reception, of photo: FoundPhoto, in conversation: Int64) throws {
    var row = ReceivedRow()
    row.message = photo.row.message
    row.inbox = photo.row.inbox
    row.conversationRow = conversation
    row.remote = reception.remote
    row.position = reception.position
    row.sender = reception.sender
    row.digest = reception.digest
    row.attachment = LedgerSchema.lostAttachment
    row.state = .downloaded
    row.receivedAt = reception.receivedAt
    try insert(row)
    try count("received")
  }

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
