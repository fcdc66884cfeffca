import Messages

/// How a request ended: the receipt for its origin, and the verdict for other owners. A fact holds one or several.
package struct RequestEnd: Codable, Sendable, Equatable {
  package struct Message: Codable, Sendable, Equatable {
    package let message: String
    package let state: MessageState
    package let cause: Cause?
    package let error: String?
    package let attempts: Int
    /// When it was published, in milliseconds since 1970.
    package let sentAt: Int64?
    /// The network's id of it.
    package let remote: String?
    package let photo: Photo?

    package init(
      message: String, state: MessageState, cause: Cause?, error: String?, attempts: Int, sentAt: Int64?,
      remote: String?, photo: Photo?
    ) {
      self.message = message
      self.state = state
      self.cause = cause
      self.error = error
      self.attempts = attempts
      self.sentAt = sentAt
      self.remote = remote
      self.photo = photo
    }
  }

  /// A photo as it was sent.
  package struct Photo: Codable, Sendable, Equatable {
    package let format: String
    package let originalBytes: Int
    package let originalWidth: Int
    package let originalHeight: Int
    package let bytes: Int
    package let width: Int
    package let height: Int
    package let digest: String
    package let url: String?
    /// JSON with the keys.
    package let attachment: String?

    package init(
      format: String, originalBytes: Int, originalWidth: Int, originalHeight: Int, bytes: Int, width: Int, height: Int,
      digest: String, url: String?, attachment: String?
    ) {
      self.format = format
      self.originalBytes = originalBytes
      self.originalWidth = originalWidth
      self.originalHeight = originalHeight
      self.bytes = bytes
      self.width = width
      self.height = height
      self.digest = digest
      self.url = url
      self.attachment = attachment
    }
  }

  package let id: RecordID
  /// Its name at its origin.
  package let request: String
  /// `sent`, `failed` or `cancelled`.
  package let state: RequestState
  package let cause: Cause?
  package let error: String?
  /// Milliseconds since 1970.
  package let finishedAt: Int64
  package let messages: [Message]

  package init(
    id: RecordID, request: String, state: RequestState, cause: Cause?, error: String?, finishedAt: Int64,
    messages: [Message]
  ) {
    self.id = id
    self.request = request
    self.state = state
    self.cause = cause
    self.error = error
    self.finishedAt = finishedAt
    self.messages = messages
  }
}
