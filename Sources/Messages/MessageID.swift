/// The stable id of one message: 32 lower-case hexadecimal characters.
///
/// It is the idempotency key on every network, so it stays the same over retries, crashes and a rebuilt ledger.
public struct MessageID: Hashable, Sendable, Comparable, CustomStringConvertible {
  public let text: String

  /// Takes an id that was made by `MessageID.derive` or read back from the ledger.
  public init(unchecked text: String) { self.text = text }

  public var description: String { text }
  public static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}
