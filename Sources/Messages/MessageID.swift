/// The stable id of one message: 32 lower-case hexadecimal characters.
///
/// It is the idempotency key on every network, so it stays the same over retries, crashes and a rebuilt ledger.
package struct MessageID: Hashable, Sendable, Comparable, CustomStringConvertible {
  package let text: String

  /// Takes an id that was made by `MessageID.derive` or read back from the ledger.
  package init(unchecked text: String) { self.text = text }

  package var description: String { text }
  package static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}
