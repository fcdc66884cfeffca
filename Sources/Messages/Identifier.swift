/// A conversation or an inbox as clients name it: one line of 1 to 255 bytes of UTF-8 without control characters.
///
/// Such a name is data and never a path. Where it has to become a file name, `Digests` escapes it.
public protocol Identifier: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// What the identifier stands for, as error sentences call it.
  static var noun: String { get }
  var text: String { get }
  /// Keeps `text` as it is; only values that were checked once, such as the ledger's, come in this way.
  init(unchecked text: String)
}

/// The longest identifier, in bytes of UTF-8.
public let longestIdentifier = 255

extension Identifier {
  /// Checks `text` against the grammar.
  public init(_ text: String) throws(IdentifierError) {
    if text.isEmpty { throw IdentifierError(noun: Self.noun, fault: .empty) }
    if text.utf8.count > longestIdentifier {
      throw IdentifierError(noun: Self.noun, fault: .tooLong(bytes: text.utf8.count))
    }
    if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      throw IdentifierError(noun: Self.noun, fault: .controlCharacter)
    }
    self.init(unchecked: text)
  }

  public var description: String { text }
  public static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}

/// Where messages go: a chat, a room, a person.
public struct ConversationID: Identifier {
  public static let noun = "conversation"
  public let text: String
  public init(unchecked text: String) { self.text = text }
}

/// The identity that messages are sent as.
public struct InboxID: Identifier {
  public static let noun = "inbox"
  public let text: String
  public init(unchecked text: String) { self.text = text }
}

/// Who sent a message, as its network calls them: in a group, one of many. A stranger's word.
public struct SenderID: Identifier {
  public static let noun = "sender"
  public let text: String
  public init(unchecked text: String) { self.text = text }
}

/// Why a text is no identifier.
public struct IdentifierError: Error, Equatable, CustomStringConvertible {
  public enum Fault: Equatable, Sendable {
    case empty
    case tooLong(bytes: Int)
    case controlCharacter
  }

  public let noun: String
  public let fault: Fault

  public var description: String {
    switch fault {
    case .empty:
      "the \(noun) is empty; write its name on one line"
    case .tooLong(let bytes):
      "the \(noun) is \(bytes) bytes long; the limit is \(longestIdentifier)"
    case .controlCharacter:
      "the \(noun) holds a line break or control character; write its name on one line"
    }
  }
}
