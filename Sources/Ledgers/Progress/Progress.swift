import GRDB
import Messages

package struct PhotoRow: Sendable {
  package let format: String
  package let originalBytes: Int
  package let originalWidth: Int
  package let originalHeight: Int
  package let bytes: Int
  package let width: Int
  package let height: Int
  /// SHA-256 of the prepared photo, in hexadecimal.
  package let digest: String
  /// Its directory, relative to the spool.
  package let path: String
  /// Bytes of thumbnail and blurred preview together.
  package let thumbnailBytes: Int

  package init(
    format: String, originalBytes: Int, originalWidth: Int, originalHeight: Int, bytes: Int, width: Int, height: Int,
    digest: String, path: String, thumbnailBytes: Int
  ) {
    self.format = format
    self.originalBytes = originalBytes
    self.originalWidth = originalWidth
    self.originalHeight = originalHeight
    self.bytes = bytes
    self.width = width
    self.height = height
    self.digest = digest
    self.path = path
    self.thumbnailBytes = thumbnailBytes
  }
}

/// The steps of a message before publishing. Each returns false, without a change, if the message was cancelled.
extension Ledger {
  /// Records that the photo is being prepared.
  package func beginPreparing(_ message: QueuedMessage) async throws -> Bool {
    try await write { try $0.move(message, to: .preparing) }
  }

  /// Records that the photo is in the cache and is about to be stored as `object`. Committed before the first byte is
  /// uploaded, so that an interrupted upload can be deleted.
  package func beginUploading(
    _ message: QueuedMessage, photo: PhotoRow, store: String, object: String, at now: Timestamp
  ) async throws -> Bool {
    try await write { database in
      // Only unsealed photos can share an object with an upload that is being deleted.
      let isBeingDeleted = try Bool.fetchOne(
        database.kept("SELECT EXISTS (SELECT 1 FROM uploads WHERE object = ? AND store = ? AND state = 'deleting')"),
        arguments: [object, store])
      if isBeingDeleted == true {
        throw DeliveryError(.conflict, "the same photo is just being deleted from its store")
      }
      guard try database.move(message, to: .uploading) else { return false }
      try database.run(
        """
        INSERT INTO photos (message, inbox, conversation_id, file, format, original_bytes, original_width,
          original_height, bytes, width, height, digest, path, thumbnail_bytes, created_at, cached_bytes,
          cached_thumbnail_bytes, pinned, recency)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)
        ON CONFLICT (message) DO UPDATE SET bytes = excluded.bytes, width = excluded.width, height = excluded.height,
          digest = excluded.digest, thumbnail_bytes = excluded.thumbnail_bytes, format = excluded.format,
          original_bytes = excluded.original_bytes, original_width = excluded.original_width,
          original_height = excluded.original_height, inbox = excluded.inbox, path = excluded.path,
          conversation_id = excluded.conversation_id, cached_bytes = excluded.cached_bytes,
          cached_thumbnail_bytes = excluded.cached_thumbnail_bytes, pinned = 1, evicting = 0,
          recency = excluded.recency
        """,
        message.message.text, message.inbox.text, message.conversationRow, message.file, photo.format,
        photo.originalBytes, photo.originalWidth, photo.originalHeight, photo.bytes, photo.width, photo.height,
        photo.digest, photo.path, photo.thumbnailBytes, now.milliseconds, photo.bytes, photo.thumbnailBytes,
        try database.nextRecency())
      try database.count("prepared")
      try database.count("prepared.original_bytes", photo.originalBytes)
      try database.count("prepared.bytes", photo.bytes)
      try database.run(
        """
        INSERT INTO uploads (message, store, object, state, started_at, profile_of) VALUES (?, ?, ?, 'started', ?, ?)
        """,
        message.message.text, store, object, now.milliseconds, message.kind == .profile ? message.inbox.text : nil)
      return true
    }
  }

  /// Records that the sealed photo is in the store.
  package func endUploading(_ message: QueuedMessage) async throws -> Bool {
    try await write { try $0.move(message, to: .uploaded) }
  }

  /// The size of the photo as sent, in pixels; nil before it is prepared.
  package func photoSize(of message: MessageID) async throws -> (width: Int, height: Int)? {
    try await ask { database in
      try database.first("SELECT width, height FROM photos WHERE message = ?", message.text) { ($0[0], $0[1]) }
    }
  }
}

extension Database {
  /// Records that the network is about to get the message. Committed before the network sees it. From here on it may be
  /// published, and its upload is never deleted.
  ///
  /// - Parameter reserved: the network's id of the message, if it gives one before.
  /// - Returns: the number of the attempt; nil if the message was cancelled.
  func beginPublishing(_ message: QueuedMessage, reserved: String?, at now: Timestamp) throws -> Int? {
    if message.attempts > 0 {
      try endAttempt(of: message.message, at: now, cause: nil, error: Self.interrupted)
    }
    let isWaiting = try move(
      message, to: .publishing,
      setting: ", attempts = attempts + 1, next_attempt = NULL, remote = coalesce(?, remote), begun_at = ?", reserved,
      now.milliseconds)
    guard isWaiting else { return nil }
    if message.kind.hasPhoto {
      try run("UPDATE uploads SET state = 'offered' WHERE message = ? AND state = 'started'", message.message.text)
    }
    return message.attempts + 1
  }
}
