extension Identifier {
  /// The inbox of a profile conversation; nil for others.
  package var inboxOfProfile: InboxID? {
    isProfile ? InboxID(unchecked: String(text.unicodeScalars.dropFirst())) : nil
  }

  package var isProfile: Bool { text.unicodeScalars.first == mark }
}

private let mark: Unicode.Scalar = "\u{1}"

/// The conversation of an inbox's profile photo, which gives its requests an order of their own. Its name begins with
/// U+0001, which no client can write: it cannot be sent to, routed, held or purged by name.
extension ConversationID {
  package static func profile(of inbox: InboxID) -> ConversationID {
    ConversationID(unchecked: "\(mark)\(inbox.text)")
  }

  /// The shown name; `profile~INBOX` for a profile photo.
  package var description: String { inboxOfProfile.map { "profile~\($0.text)" } ?? text }
}

/// The destination of a request.
package enum Addressee: Sendable, Hashable {
  case conversation(ConversationID)
  /// The profile photo of the request's inbox.
  case profile

  package func conversation(of inbox: InboxID) -> ConversationID {
    switch self {
    case .conversation(let conversation): conversation
    case .profile: .profile(of: inbox)
    }
  }
}
