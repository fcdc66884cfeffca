import Messages
import SettingKit

/// A folder whose finished images `photospool watch` sends: an entry of `watch`.
package struct WatchedFolder: Sendable, Hashable {
  /// The handling of a file once its request is on the disk.
  package enum After: String, CaseIterable, Sendable {
    /// It goes into `.sent/` beside it, and stays there for `keepFor`.
    case move
    case delete
    /// It stays where it is, and a list remembers it.
    case keep
  }

  /// With `keep`, the handling of files that are there when the folder is watched for the first time.
  package enum Existing: String, CaseIterable, Sendable {
    case skip
    case send
  }

  /// An absolute path.
  package var folder: String
  /// A conversation, perhaps with `{folder1}` to `{folder4}` in it.
  package var conversation: String
  /// nil means the default inbox.
  package var inbox: InboxID?
  package var text: Text?
  package var after = After.move
  package var existing = Existing.skip
  /// How long a file has to be left alone.
  package var quiet = Duration.seconds(2)
  /// How long a file that was sent stays in `.sent/`.
  package var keepFor = Duration.days(7)

  static let places = (1...4).map { "{folder\($0)}" }

  package init(folder: String, conversation: String) {
    (self.folder, self.conversation) = (folder, conversation)
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
}

extension WatchedFolder {
  /// The text of each request: `{name}` is the file's name, `{folder}` the path of its folder below the watched one, and
  /// `{time}` when it was last changed.
  package struct Text: Sendable, Hashable {
    let template: String

    private static let places = ["{name}", "{folder}", "{time}"]
    private static let longest = 1_000

    package static let kind = SettingKind<Text>(
      expects: "a text of at most \(longest) bytes, in which `{name}`, `{folder}` and `{time}` are of the file",
      parse: { Text($0) }, show: \.template)

    package init?(_ template: String) {
      let plain = Self.places.reduce(template) { $0.replacing($1, with: "") }
      guard 1...Self.longest ~= template.utf8.count, !plain.contains(where: { "{}".contains($0) }) else { return nil }
      self.template = template
    }

    /// The text for a file.
    package func filled(name: String, folder: String, time: String) -> String {
      // One after the other would take a brace in a name for a place.
      template.replacing(/\{name\}|\{folder\}|\{time\}/) { match in
        switch match.output {
        case "{name}": name
        case "{folder}": folder
        default: time
        }
      }
    }
  }
}
