/// An inbox's profile photo is set and removed in a conversation of its own, so that its requests keep their order and
/// wait for nobody else's.
///
/// The names of these conversations begin with U+0001, which no client can write: none of them can be sent to, routed,
/// held or purged by name.
extension ConversationID {
  private static let mark: Unicode.Scalar = "\u{1}"

  /// Where the profile photo of `inbox` is set.
  package static func profile(of inbox: InboxID) -> ConversationID {
    ConversationID(unchecked: "\(mark)\(inbox.text)")
  }

  /// The inbox whose profile photo is set here; nil for a conversation of messages.
  package var inboxOfProfile: InboxID? {
    guard text.unicodeScalars.first == Self.mark else { return nil }
    return InboxID(unchecked: String(text.unicodeScalars.dropFirst()))
  }

  package var isProfile: Bool { text.unicodeScalars.first == Self.mark }

  /// As people and programs read it; that of a profile photo is `profile~INBOX`.
  package var description: String { inboxOfProfile.map { "profile~\($0.text)" } ?? text }
}

/// Where a request goes.
package enum Addressee: Sendable, Hashable {
  case conversation(ConversationID)
  /// The profile photo of the request's inbox.
  case profile

  /// The conversation in which a request of `inbox` has its place.
  package func conversation(of inbox: InboxID) -> ConversationID {
    switch self {
    case .conversation(let conversation): conversation
    case .profile: .profile(of: inbox)
    }
  }
}
