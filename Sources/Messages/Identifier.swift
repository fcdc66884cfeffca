/// An id that is a text, ordered by it.
package protocol TextID: Hashable, Comparable, Sendable, CustomStringConvertible {
  var text: String { get }
  /// Accepts `text` without a check, for values that were checked before, as in the ledger.
  init(unchecked text: String)
}

extension TextID {
  package var description: String { text }
  package static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}

/// A client's name for a conversation or an inbox: one line of 1 to 255 bytes of UTF-8 without control characters. It
/// is data and never a path; `Digests` escapes it for file names.
package protocol Identifier: TextID {
  /// The word for error sentences.
  static var noun: String { get }
}

/// The longest identifier, in bytes of UTF-8.
package let longestIdentifier = 255

extension Identifier {
  package init(_ text: String) throws(IdentifierError) {
    let (noun, bytes) = (Self.noun, text.utf8.count)
    if text.isEmpty { throw IdentifierError(description: "the \(noun) is empty; write its name on one line") }
    if bytes > longestIdentifier {
      throw IdentifierError(description: "the \(noun) is \(bytes) bytes long; the limit is \(longestIdentifier)")
    }
    if hasControlCharacter(text) {
      throw IdentifierError(
        description: "the \(noun) holds a line break or control character; write its name on one line")
    }
    self.init(unchecked: text)
  }
}

/// A chat, a room or a person.
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

/// The sender's name on its network, which is unverified.
package struct SenderID: Identifier {
  package static let noun = "sender"
  package let text: String
  package init(unchecked text: String) { self.text = text }
}

/// Why a text is not an identifier.
package struct IdentifierError: Error, CustomStringConvertible {
  package let description: String
}
