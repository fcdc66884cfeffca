import GRDB
import Messages

/// A request found in the spool after its ledger was lost.
package struct FoundRequest: Sendable {
  package struct Message: Sendable {
    package let message: MessageID
    package let kind: MessageKind
    /// The file's name as dropped; unknown for sent messages.
    package let file: String
    package let bytes: Int
    /// SHA-256 of the file as dropped, in hexadecimal, if it still exists.
    package let digest: String
    package let state: MessageState
    package let sentAt: Timestamp?
    package let remote: String?

    package init(
      message: MessageID, kind: MessageKind, file: String, bytes: Int, digest: String, state: MessageState,
      sentAt: Timestamp?, remote: String?
    ) {
      self.message = message
      self.kind = kind
      self.file = file
      self.bytes = bytes
      self.digest = digest
      self.state = state
      self.sentAt = sentAt
      self.remote = remote
    }
  }

  package let request: String
  package let inode: UInt64
  package let born: Int64
  /// nil if it is unreadable.
  package let conversation: ConversationID?
  package let inbox: InboxID
  package let key: String?
  /// SHA-256 of all that the client wrote, in hexadecimal.
  package let digest: String?
  package let state: RequestState
  package let error: String?
  package let duplicateOf: String?
  package let acceptedAt: Timestamp
  package let finishedAt: Timestamp?
  /// Its directory is at its final place.
  package let isFiled: Bool
  package let messages: [Message]

  package init(
    request: String, inode: UInt64, born: Int64, conversation: ConversationID?, inbox: InboxID, key: String?,
    digest: String?, state: RequestState, error: String?, duplicateOf: String?, acceptedAt: Timestamp,
    finishedAt: Timestamp?, isFiled: Bool, messages: [Message]
  ) {
    self.request = request
    self.inode = inode
    self.born = born
    self.conversation = conversation
    self.inbox = inbox
    self.key = key
    self.digest = digest
    self.state = state
    self.error = error
    self.duplicateOf = duplicateOf
    self.acceptedAt = acceptedAt
    self.finishedAt = finishedAt
    self.isFiled = isFiled
    self.messages = messages
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

  package let message: MessageID
  package let inbox: InboxID
  package let conversation: ConversationID
  /// Its directory, relative to the spool.
  package let path: String
  /// The size of the sent photo in bytes; 0 if only thumbnails are left.
  package let bytes: Int
  /// SHA-256 of the sent photo, in hexadecimal; empty if only thumbnails are left.
  package let digest: String
  package let thumbnailBytes: Int
  /// Pixels; 0 without a receipt.
  package let width: Int
  package let height: Int
  package let url: String?
  package let createdAt: Timestamp
  /// nil for a sent photo.
  package let reception: Reception?

  package init(
    message: MessageID, inbox: InboxID, conversation: ConversationID, path: String, bytes: Int, digest: String,
    thumbnailBytes: Int, width: Int, height: Int, url: String?, createdAt: Timestamp, reception: Reception?
  ) {
    self.message = message
    self.inbox = inbox
    self.conversation = conversation
    self.path = path
    self.bytes = bytes
    self.digest = digest
    self.thumbnailBytes = thumbnailBytes
    self.width = width
    self.height = height
    self.url = url
    self.createdAt = createdAt
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
        try database.execute(
          sql: """
            INSERT INTO photos (message, inbox, conversation_id, file, format, original_bytes, original_width,
              original_height, bytes, width, height, digest, path, thumbnail_bytes, url, created_at, uploaded_at,
              downloaded_at, viewed_at, cached_bytes, cached_thumbnail_bytes, recency)
            VALUES (?, ?, ?, '', '', 0, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
          arguments: [
            photo.message.text, photo.inbox.text, conversation, photo.bytes, photo.width, photo.height, photo.digest,
            photo.path, photo.thumbnailBytes, photo.url,
            photo.createdAt.milliseconds, photo.reception == nil ? photo.createdAt.milliseconds : nil,
            photo.reception == nil ? nil : photo.createdAt.milliseconds, photo.createdAt.milliseconds, photo.bytes,
            photo.thumbnailBytes, try database.nextRecency(),
          ])
      }
    }
  }
}

extension Database {
  fileprivate func restore(_ reception: FoundPhoto.Reception, of photo: FoundPhoto, in conversation: Int64) throws {
    try execute(
      sql: """
        INSERT INTO received (message, inbox, conversation_id, remote, position, sender, digest, attachment, state,
          received_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'downloaded', ?)
        """,
      arguments: [
        photo.message.text, photo.inbox.text, conversation, reception.remote, reception.position,
        reception.sender?.text, reception.digest, LedgerSchema.lostAttachment, reception.receivedAt.milliseconds,
      ])
    try count("received")
  }

  fileprivate func restore(_ found: FoundRequest, now: Timestamp) throws {
    let conversation = try found.conversation.map { try self.conversation($0, now: now) }
    // A duplicate waits for its first request, as before.
    let first: String? =
      if let key = found.key, found.state == .queued {
        try value(
          """
          SELECT request FROM requests WHERE inbox = ? AND idempotency_key = ? AND digest = ? AND conversation_id = ?
            AND (state = 'sent' OR state = 'queued') ORDER BY id LIMIT 1
          """, found.inbox.text, key, found.digest, conversation)
      } else {
        nil
      }
    try execute(
      sql: """
        INSERT INTO requests (request, dropped_as, inode, born, conversation_id, inbox, idempotency_key, digest, state,
          cause, error, bytes, duplicate_of, accepted_at, finished_at, filed, restored)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
        """,
      arguments: [
        found.request, found.request, Int64(bitPattern: found.inode), found.born, conversation, found.inbox.text,
        found.key, found.digest, found.state.rawValue, found.error.map { _ in Cause.rejected.rawValue }, found.error,
        found.messages.reduce(0) { $0 + $1.bytes }, found.duplicateOf ?? first, found.acceptedAt.milliseconds,
        found.finishedAt?.milliseconds, found.isFiled,
      ])
    let request = lastInsertedRowID
    try count(found.state)
    guard let conversation else { return }
    try execute(sql: "UPDATE conversations SET known = 1 WHERE id = ?", arguments: [conversation])
    for (position, message) in found.messages.enumerated() {
      try execute(
        sql: """
          INSERT INTO messages (message, request_id, conversation_id, position, kind, file, bytes, digest, state, attempts,
            sent_at, remote)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          message.message.text, request, conversation, position, message.kind.rawValue, message.file, message.bytes,
          message.digest, message.state.rawValue, message.state == .publishing ? 1 : 0, message.sentAt?.milliseconds,
          message.remote,
        ])
    }
    try addWaiting(found.messages.count { !$0.state.isFinal }, to: conversation, now: now)
  }
}
