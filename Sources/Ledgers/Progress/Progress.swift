import GRDB
import Messages

/// The steps of a message before publishing. Each returns false, without a change, if the message was cancelled.
extension Ledger {
  /// Records that the photo is being prepared.
  package func beginPreparing(_ message: QueuedMessage) async throws -> Bool {
    try await write { try $0.move(message, to: .preparing) }
  }

  /// Records that the photo is in the cache and is about to be stored as `object`. Committed before the first byte is
  /// uploaded, so that an interrupted upload can be deleted.
  ///
  /// - Parameter isSealed: no other message has the same object.
  package func beginUploading(
    _ message: QueuedMessage, photo: PhotoRow, store: String, object: String, isSealed: Bool, at now: Timestamp
  ) async throws -> Bool {
    try await write { database in
      // Only unsealed photos can share an object with an upload that is being deleted.
      if try database.exists("uploads WHERE object = ? AND store = ? AND state = 'deleting'", object, store) {
        throw DeliveryError(.conflict, "the same photo is just being deleted from its store")
      }
      guard try database.move(message, to: .uploading) else { return false }
      var photo = photo
      photo.message = message.message
      photo.inbox = message.inbox
      photo.conversationRow = message.conversationRow
      photo.file = message.file
      photo.createdAt = now
      photo.isPinned = true
      photo.recency = try database.nextRecency()
      try database.insert(photo, Self.preparedAgain)
      try database.count("prepared")
      try database.count("prepared.original_bytes", photo.originalBytes)
      try database.count("prepared.bytes", photo.bytes)
      try database.insertUpload(
        of: message.message.text, to: store, as: object, "started", at: now,
        profileOf: message.kind == .profile ? message.inbox : nil, isSealed: isSealed)
      return true
    }
  }

  private static let preparedAgain = """
    ON CONFLICT (message) DO UPDATE SET pinned = 1, evicting = 0, \(Table.replacing(
      "bytes", "width", "height", "digest", "thumbnail_bytes", "format", "original_bytes", "original_width",
      "original_height", "inbox", "path", "conversation_id", "cached_bytes", "cached_thumbnail_bytes", "recency"))
    """

  /// Records that the sealed photo is in the store.
  package func endUploading(_ message: QueuedMessage) async throws -> Bool {
    try await write { try $0.move(message, to: .uploaded) }
  }

  /// The size of the photo as sent, in pixels; nil before it is prepared.
  package func photoSize(of message: MessageID) async throws -> (width: Int, height: Int)? {
    try await ask { database in
      try database.first("SELECT width, height FROM photos WHERE message = ?", message.text) {
        ($0["width"], $0["height"])
      }
    }
  }
}

extension Database {
  /// Records that the network is about to get the message. Committed before the network sees it. From here on it may be
  /// published, and its upload is never deleted.
  ///
  /// - Parameters:
  ///   - reserved: the network's id of the message, if it gives one before.
  ///   - recipient: who gets it. Nobody else does while this one may have published it.
  /// - Returns: the number of the attempt; nil if the message was cancelled.
  func beginPublishing(
    _ message: QueuedMessage, reserved: String?, on recipient: Recipient, at now: Timestamp
  ) throws -> Int? {
    if message.attempts > 0 {
      try endAttempt(of: message.message, at: now, cause: nil, error: Self.interrupted)
    }
    let isWaiting = try move(
      message, to: .publishing,
      setting: """
        , attempts = attempts + 1, next_attempt = NULL, remote = coalesce(?, remote), begun_at = ?, offered_to = ?
        """, reserved, now.milliseconds, recipient)
    guard isWaiting else { return nil }
    if message.kind.hasPhoto {
      try run(
        """
        UPDATE uploads SET state = 'offered', offered_to = iif(profile_of IS NULL, NULL, ?)
        WHERE message = ? AND state = 'started'
        """, recipient, message.message.text)
    }
    return message.attempts + 1
  }
}
