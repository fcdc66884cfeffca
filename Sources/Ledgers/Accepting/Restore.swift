import GRDB
import Messages

/// A request as the spool tells of it, where the ledger that knew it is gone.
package struct FoundRequest: Sendable {
  package struct Message: Sendable {
    package let message: MessageID
    package let kind: MessageKind
    /// The file's name as dropped; of what was sent, nobody knows it any more.
    package let file: String
    package let bytes: Int
    /// SHA-256 of the file as dropped, in hexadecimal, as far as it is there.
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
  /// Nil when nobody can read it any more.
  package let conversation: ConversationID?
  package let inbox: InboxID
  package let key: String?
  /// SHA-256 over all that the client wrote, in hexadecimal.
  package let digest: String?
  package let state: RequestState
  package let error: String?
  package let duplicateOf: String?
  package let acceptedAt: Timestamp
  package let finishedAt: Timestamp?
  /// Its directory is at its last place.
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

/// A photo of the cache whose row is gone.
package struct FoundPhoto: Sendable {
  /// Where a photo came from that somebody else sent.
  package struct Reception: Sendable {
    /// The message's id on its network.
    package let remote: String
    package let position: Int
    package let sender: SenderID?
    /// SHA-256 of the attachment as it was dropped, in hexadecimal; empty when nobody knows it any more.
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
  /// Of the photo as it was sent; 0 when only its thumbnails are left.
  package let bytes: Int
  /// SHA-256 of the photo as it was sent, in hexadecimal; empty when only its thumbnails are left.
  package let digest: String
  package let thumbnailBytes: Int
  /// Pixels; 0 where no receipt tells.
  package let width: Int
  package let height: Int
  package let url: String?
  package let createdAt: Timestamp
  /// Nil for one that was sent from here.
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
  /// Notes that the ledger was rebuilt. Which objects were stored before is not known.
  package func noteRebuilt() async throws {
    try await write { try $0.run("INSERT OR IGNORE INTO janitor VALUES (?, '1')", LedgerSchema.rebuilt) }
  }

  /// Enters requests that the spool tells of, in this order, behind all that are there. What of them was published, the
  /// network is asked first.
  package func restore(_ requests: [FoundRequest], at now: Timestamp) async throws {
    try await write { database in
      for request in requests { try database.restore(request, now: now) }
    }
  }

  /// Enters photos of the cache. Without their keys nobody can fetch them again: they are last copies. What others sent is
  /// hidden, whatever was revealed before, and is not received a second time.
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
    // One that waits with the key of another waits for that one, as before.
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
