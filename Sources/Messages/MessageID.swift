/// The stable id of a message: 32 lower-case hexadecimal characters. It is the idempotency key on every network, and
/// stays the same over retries, crashes and a rebuilt ledger.
package struct MessageID: TextID {
  package let text: String

  /// Accepts an id from `MessageID.derive` or the ledger without a check.
  package init(unchecked text: String) { self.text = text }
}
