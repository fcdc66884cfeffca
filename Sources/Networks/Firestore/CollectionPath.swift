import Messages
import SettingKit

/// The path of the collection of a conversation's messages, such as `conversations/{conversation}/messages`.
struct CollectionPath: Sendable, Hashable {
  /// As written.
  let text: String
  private let segments: [String]

  private static let placeholder = "{conversation}"
  /// The limit of Firestore on an id.
  private static let longestID = 1500

  static let standard = CollectionPath(
    text: "conversations/{conversation}/messages", segments: ["conversations", placeholder, "messages"])
}

extension CollectionPath {
  /// nil for anything but collections and documents in turn, beginning and ending with a collection.
  init?(_ text: String) {
    let segments = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    let isValid = segments.allSatisfy { segment in
      let fixed = segment.replacing(Self.placeholder, with: "c")
      return Self.isID(fixed) && !fixed.contains { "{}".contains($0) }
    }
    guard segments.count % 2 == 1, isValid else { return nil }
    self.init(text: text, segments: segments)
  }

  static let kind = SettingKind<CollectionPath>(
    expects: "the path of a collection such as `conversations/{conversation}/messages`",
    parse: { CollectionPath($0) }, show: \.text)

  /// Whether it is in a document, which can hold the conversation's summary.
  var hasParent: Bool { segments.count > 1 }

  /// Whether Firestore takes a text for an id of a collection or a document.
  static func isID(_ text: String) -> Bool {
    1...longestID ~= text.utf8.count && !text.contains("/") && text != "." && text != ".."
      && !(text.hasPrefix("__") && text.hasSuffix("__")) && !hasControlCharacter(text)
  }

  /// The path for a conversation; nil if Firestore does not take its name for an id.
  func filled(with conversation: Address) -> String? {
    let filled = segments.map { $0.replacing(Self.placeholder, with: conversation.text) }
    return filled.allSatisfy(Self.isID) ? filled.joined(separator: "/") : nil
  }
}
