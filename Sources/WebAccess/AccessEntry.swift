import Messages

/// A link that was not used yet, or a session, without its secret.
package struct AccessEntry: Sendable {
  /// Names it among all links and sessions; it opens nothing.
  package let id: String
  package let isLink: Bool
  package let grant: Grant
  /// The user of this computer whom it is for; nil for all, or if the kernel does not tell.
  package let user: UInt32?
  /// When the link was made, or the session used; the latter to the hour.
  package let time: Timestamp
  package var hasPassword = false
}
