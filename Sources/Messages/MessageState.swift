/// How far a message has come. The raw values are the words of the ledger, of `queue` and of the log.
package enum MessageState: String, CaseIterable, Sendable, Codable {
  /// Accepted; nothing has been done for it since the last start.
  case pending
  /// Its photo is being decoded, scaled and encoded.
  case preparing
  /// Its sealed photo is on the way to the store.
  case uploading
  /// Its sealed photo is in the store; only publishing is left.
  case uploaded
  /// Handed to the network, or about to be: from here on it may have been published.
  case publishing
  case sent
  case failed
  case cancelled

  /// Whether nothing more will happen to the message by itself.
  package var isFinal: Bool {
    switch self {
    case .pending, .preparing, .uploading, .uploaded, .publishing: false
    case .sent, .failed, .cancelled: true
    }
  }

  /// Whether `cancel` still comes in time.
  package var canBeCancelled: Bool {
    switch self {
    case .pending, .preparing, .uploading, .uploaded: true
    case .publishing, .sent, .failed, .cancelled: false
    }
  }
}

/// What has become of a request as a whole. The raw values are the words of the ledger and of `show`.
package enum RequestState: String, CaseIterable, Sendable, Codable {
  /// Accepted, with at least one message that is not final.
  case queued
  case sent
  case failed
  case cancelled
  /// Dropped again with the idempotency key and the contents of an earlier request, and not sent again.
  case duplicate
  /// Lies in `draft/`: its photos are uploaded ahead of Send.
  case draft
  /// A draft, or what Send did not take of one, that is being removed. Its row goes when nothing else is left of it.
  case abandoned
}

/// What a message carries.
package enum MessageKind: String, CaseIterable, Sendable, Codable {
  case photo
  case text
  /// The inbox's new profile photo.
  case profile
  /// That the inbox has no profile photo any more.
  case profileRemoval = "profile-removal"

  /// Whether it has a photo, which is prepared and uploaded first.
  package var hasPhoto: Bool {
    switch self {
    case .photo, .profile: true
    case .text, .profileRemoval: false
    }
  }

  /// Whether it changes the inbox's profile photo.
  package var isOfProfile: Bool {
    switch self {
    case .profile, .profileRemoval: true
    case .photo, .text: false
    }
  }
}
