import Digests
import Messages

/// A session of a browser.
package struct WebSession: Codable, Sendable {
  /// Begins the idempotency keys of what it sends, and names it in the list of sessions.
  package let id: String
  package let grant: Grant
  /// The user of this computer who opened it; nil if it comes from elsewhere, or the kernel did not tell.
  package let user: UInt32?
  /// Asked for after a rest; nil for none.
  package internal(set) var password: ScryptDigest?
  /// Whether the password has to be given first.
  package internal(set) var isLocked = false

  private enum CodingKeys: String, CodingKey {
    case id, grant, user, password
  }

  package var inbox: InboxID? { grant.inbox.map(InboxID.init(unchecked:)) }

  /// Tells its own requests from those of others.
  package var keyPrefix: String { "web-\(id)-" }

  /// Whether it may retry, cancel or delete a request: any with the right to operate, else those that it sent.
  ///
  /// - Parameter key: the request's idempotency key.
  package func mayChange(requestWith key: String?) -> Bool {
    may(.operate) || may(.send) && key?.hasPrefix(keyPrefix) == true
  }

  package func may(_ right: WebRight) -> Bool { grant.rights.contains(right) }
}
