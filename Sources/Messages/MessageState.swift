/// The state of a message. Raw values are the words of the ledger, `queue` and the log.
package enum MessageState: String, CaseIterable, Sendable, Codable {
  /// Accepted; no work since the last start.
  case pending
  /// Its photo is being decoded, scaled and encoded.
  case preparing
  /// Its sealed photo is being uploaded.
  case uploading
  /// Its sealed photo is in the store.
  case uploaded
  /// The network has it or is about to get it: from here on it may be published.
  case publishing
  /// It is in the cluster's queue, and the owner of its conversation publishes it.
  case relayed
  case sent
  case failed
  case cancelled

  package var isFinal: Bool {
    switch self {
    case .pending, .preparing, .uploading, .uploaded, .publishing, .relayed: false
    case .sent, .failed, .cancelled: true
    }
  }
}

/// The state of a request. Raw values are the words of the ledger and of `show`.
package enum RequestState: String, CaseIterable, Sendable, Codable {
  /// Accepted, with at least one message that is not final.
  case queued
  case sent
  case failed
  case cancelled
  /// Not sent, because an earlier request has its idempotency key and contents.
  case duplicate
  /// In `draft/`; its photos are uploaded before Send.
  case draft
  /// A draft, or part of one, that is being removed. Its row is deleted last.
  case abandoned
}

/// The content of a message.
package enum MessageKind: String, CaseIterable, Sendable, Codable {
  case photo
  case text
  /// The inbox's new profile photo.
  case profile
  /// The removal of the inbox's profile photo.
  case profileRemoval = "profile-removal"

  /// Whether it has a photo to prepare and upload.
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
