import Digests

/// The name of a request's directory: 1 to 128 of `A-Za-z0-9._-`, not starting with `.` or `-`.
package struct RequestName: Hashable, Sendable, Comparable, CustomStringConvertible {
  package static let longest = 128

  package let text: String

  /// Nil when `text` is not of the grammar.
  package init?(_ text: String) {
    guard !text.hasPrefix("."), !text.hasPrefix("-"), isToken(text) else { return nil }
    self.text = text
  }

  package var description: String { text }
  package static func < (left: Self, right: Self) -> Bool { left.text < right.text }

  /// The name itself, then `NAME.2`, `NAME.3` and so on: what a request is called when its name is taken.
  package func alternative(_ number: Int) -> RequestName {
    guard number > 1 else { return self }
    let ending = ".\(number)"
    // Cutting a valid name and adding to its end keeps it valid.
    return RequestName(text.prefix(Self.longest - ending.utf8.count) + ending) ?? self
  }

  /// The same of a name as it was dropped, which may be no request's.
  package static func alternative(of name: String, _ number: Int) -> String {
    let base = RequestName(name) ?? RequestName("unnamed-" + SHA256Digest(of: Array(name.utf8)).hex.prefix(16))
    return base?.alternative(number).text ?? name
  }
}

/// A client's own key for a request: 1 to 128 of `A-Za-z0-9._-`. A second request with the same key from the same inbox
/// is not sent again while the first one is remembered.
package struct IdempotencyKey: Hashable, Sendable, CustomStringConvertible {
  package let text: String

  /// Nil when `text` is not of the grammar.
  package init?(_ text: String) {
    guard isToken(text) else { return nil }
    self.text = text
  }

  package var description: String { text }
}

private func isToken(_ text: String) -> Bool {
  (1...RequestName.longest).contains(text.utf8.count)
    && text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
        true
      default:
        false
      }
    }
}
