import Digests
import Messages

/// The name of a request's directory: 1 to 128 of `A-Za-z0-9._-`, not starting with `.` or `-`.
package struct RequestName: Hashable, Sendable, Comparable, CustomStringConvertible {
  package static let longest = 128

  package let text: String

  /// nil if `text` has another form.
  package init?(_ text: String) {
    guard !text.hasPrefix("."), !text.hasPrefix("-"), isToken(text) else { return nil }
    self.text = text
  }

  package var description: String { text }
  package static func < (left: Self, right: Self) -> Bool { left.text < right.text }

  /// The name of a request whose name is taken: itself, `NAME.2`, `NAME.3` and so on.
  package func alternative(_ number: Int) -> RequestName {
    guard number > 1 else { return self }
    let ending = ".\(number)"
    // A valid name stays valid when it is cut and gets an ending.
    return RequestName(text.prefix(Self.longest - ending.utf8.count) + ending) ?? self
  }

  /// The same for a dropped name, which may be invalid.
  package static func alternative(of name: String, _ number: Int) -> String {
    let base = RequestName(name) ?? RequestName("unnamed-" + SHA256Digest(of: Array(name.utf8)).hex.prefix(16))
    return base?.alternative(number).text ?? name
  }
}

/// A client's key for a request: 1 to 128 of `A-Za-z0-9._-`. A second request with the same key from the same inbox is
/// not sent while the first is remembered.
package struct IdempotencyKey: Hashable, Sendable, CustomStringConvertible {
  package let text: String

  /// nil if `text` has another form.
  package init?(_ text: String) {
    guard isToken(text) else { return nil }
    self.text = text
  }

  package var description: String { text }
}

private func isToken(_ text: String) -> Bool {
  (1...RequestName.longest).contains(text.utf8.count) && text.utf8.allSatisfy(isTokenByte)
}

func isTokenByte(_ byte: UInt8) -> Bool { byte.isAlphanumeric || "._-".utf8.contains(byte) }
