import Messages

/// A folder whose finished images `photospool watch` sends: an entry of `watch`.
package struct WatchedFolder: Sendable, Hashable {
  /// The handling of a file once its request is on the disk.
  package enum After: String, CaseIterable, Sendable {
    /// It goes into `.sent/` beside it, and stays there for `keepFor`.
    case move
    case delete
  }

  /// An absolute path.
  package let folder: String
  /// A conversation, perhaps with `{folder1}` to `{folder4}` in it.
  package let conversation: String
  /// nil means the default inbox.
  package let inbox: InboxID?
  package let after: After
  /// How long a file has to be left alone.
  package let quiet: Duration
  /// How long a file that was sent stays in `.sent/`.
  package let keepFor: Duration

  package static let standardQuiet = Duration.seconds(2)
  package static let standardKeepFor = Duration.days(7)
  static let places = (1...4).map { "{folder\($0)}" }

  package init(
    folder: String, conversation: String, inbox: InboxID? = nil, after: After = .move,
    quiet: Duration = standardQuiet, keepFor: Duration = standardKeepFor
  ) {
    self.folder = folder
    self.conversation = conversation
    self.inbox = inbox
    self.after = after
    self.quiet = quiet
    self.keepFor = keepFor
  }

  /// The conversation of a file.
  ///
  /// - Parameter folders: the names of the folders below `folder` that lead to it.
  /// - Returns: nil if the file lies less deep than the conversation asks for, or the names give none.
  package func conversation(in folders: [String]) -> ConversationID? {
    var name = conversation
    for (number, place) in Self.places.enumerated() where name.contains(place) {
      guard number < folders.count else { return nil }
      name = name.replacing(place, with: folders[number])
    }
    return try? ConversationID(name)
  }

  /// Whether a conversation as written has no other braces than the known ones.
  static func isConversation(_ text: String) -> Bool {
    let plain = places.reduce(text) { $0.replacing($1, with: "a") }
    return (try? ConversationID(plain)) != nil && !plain.contains { "{}".contains($0) }
  }
}
