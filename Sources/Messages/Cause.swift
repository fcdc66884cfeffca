/// Why a step failed: one word, the same in the command, JSON, log, metrics and ledger.
package enum Cause: String, CaseIterable, Sendable, Codable, Error {
  // Temporary; retried.
  /// No name, no route or no connection: nothing was sent.
  case unreachable
  /// The connection broke; the data may have arrived.
  case network
  case timeout
  case serverBusy = "server_busy"
  case rateLimited = "rate_limited"
  case notYetUploaded = "not_yet_uploaded"
  case conflict
  case urlExpired = "url_expired"
  case localStorageFull = "local_storage_full"
  case localStorageError = "local_storage_error"
  case localResources = "local_resources"
  // Somebody has to fix it; the destination is held until then.
  case authExpired = "auth_expired"
  case accountDisabled = "account_disabled"
  case configError = "config_error"
  /// The room is encrypted, and photospool may not or cannot encrypt for it. Only the conversation is held.
  case encryptedRoom = "encrypted_room"
  // Permanent; the request fails.
  case tooLargeAfterCompress = "too_large_after_compress"
  case unsupportedImage = "unsupported_image"
  case truncatedImage = "truncated_image"
  case imageLimits = "image_limits"
  case photoChanged = "photo_changed"
  case textChanged = "text_changed"
  case forbidden
  case roomGone = "room_gone"
  case rejected
  case malformedRequest = "malformed_request"
  case expired
  case cancelled
  // For received photos.
  /// The object is missing, perhaps not uploaded yet; retried for a while.
  case notFound = "not_found"
  /// Its SHA-256 differs from the announced one.
  case digestMismatch = "digest_mismatch"
  case decryptionFailed = "decryption_failed"
  case notAnAttachment = "not_an_attachment"
  /// Neither `https://` nor `mxc://`.
  case insecureURL = "insecure_url"
  /// An address of this machine or a private network.
  case blockedAddress = "blocked_address"
  case tooManyRedirects = "too_many_redirects"
  /// Any other refusal.
  case httpStatus = "http_status"
  case tooLarge = "too_large"

  /// The effect of a cause on its request.
  package enum Disposition: Sendable {
    /// The conversation waits and retries, in order.
    case retry
    /// The destination or the conversation is held until it is fixed; no attempt is used up.
    case hold
    case fail
  }

  package var disposition: Disposition {
    switch self {
    case .unreachable, .network, .timeout, .serverBusy, .rateLimited, .notYetUploaded, .conflict, .urlExpired,
      .localStorageFull, .localStorageError, .localResources, .notFound:
      .retry
    case .authExpired, .accountDisabled, .configError, .encryptedRoom:
      .hold
    case .tooLargeAfterCompress, .unsupportedImage, .truncatedImage, .imageLimits, .photoChanged, .textChanged,
      .forbidden, .roomGone, .rejected, .malformedRequest, .expired, .cancelled, .digestMismatch, .decryptionFailed,
      .notAnAttachment, .insecureURL, .blockedAddress, .tooManyRedirects, .httpStatus, .tooLarge:
      .fail
    }
  }

  /// Whether the failed attempt surely did not publish: nothing was sent, or the message was refused.
  package var hadNoEffect: Bool { disposition == .hold || self == .unreachable || self == .rateLimited }
}

/// A failed step of delivery: a cause and a sentence that says what, where and what to do.
package struct DeliveryError: Error, Equatable, CustomStringConvertible {
  package let cause: Cause
  /// One sentence without a line break, secret or full URL.
  package let sentence: String
  /// The time that the other side asked us to wait, in seconds.
  package let retryAfter: Double?

  package init(_ cause: Cause, _ sentence: String, retryAfter: Double? = nil) {
    self.cause = cause
    self.sentence = sentence
    self.retryAfter = retryAfter
  }

  package var description: String { "\(sentence) (\(cause.rawValue))" }
}
