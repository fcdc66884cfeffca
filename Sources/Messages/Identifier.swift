/// A conversation or an inbox as clients name it: one line of 1 to 255 bytes of UTF-8 without control characters.
///
/// Such a name is data and never a path. Where it has to become a file name, `Digests` escapes it.
package protocol Identifier: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// What the identifier stands for, as error sentences call it.
  static var noun: String { get }
  var text: String { get }
  /// Keeps `text` as it is; only values that were checked once, such as the ledger's, come in this way.
  init(unchecked text: String)
}

/// The longest identifier, in bytes of UTF-8.
package let longestIdentifier = 255

extension Identifier {
  /// Checks `text` against the grammar.
  package init(_ text: String) throws(IdentifierError) {
    if text.isEmpty { throw IdentifierError(noun: Self.noun, fault: .empty) }
    if text.utf8.count > longestIdentifier {
      throw IdentifierError(noun: Self.noun, fault: .tooLong(bytes: text.utf8.count))
    }
    if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      throw IdentifierError(noun: Self.noun, fault: .controlCharacter)
    }
    self.init(unchecked: text)
  }

  package var description: String { text }
  package static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}

/// Where messages go: a chat, a room, a person.
package struct ConversationID: Identifier {
  package static let noun = "conversation"
  package let text: String
  package init(unchecked text: String) { self.text = text }
}

/// The identity that messages are sent as.
package struct InboxID: Identifier {
  package static let noun = "inbox"
  package let text: String
  package init(unchecked text: String) { self.text = text }
}

/// Who sent a message, as its network calls them: in a group, one of many. A stranger's word.
package struct SenderID: Identifier {
  package static let noun = "sender"
  package let text: String
  package init(unchecked text: String) { self.text = text }
}

/// Why a text is no identifier.
package struct IdentifierError: Error, Equatable, CustomStringConvertible {
  package enum Fault: Equatable, Sendable {
    case empty
    case tooLong(bytes: Int)
    case controlCharacter
  }

  package let noun: String
  package let fault: Fault

  package var description: String {
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
