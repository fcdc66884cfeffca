import Messages

/// What a link or a session may do.
package enum WebRight: String, Codable, CaseIterable, Sendable {
  /// Read conversations and photos; reveal, hide and fetch photos, and change preferences.
  case see
  /// Send, and retry, cancel or delete what the session sent.
  case send
  /// Hold and release conversations, and retry, cancel or delete any request.
  case operate
}

/// A link that was given away, or the session that began with it.
package struct Grant: Codable, Sendable, Equatable {
  package let rights: Set<WebRight>
  /// Only this inbox; nil for all.
  package let inbox: String?
  /// The name of the session in the log, such as `Anna, phone`.
  package let name: String
  /// The only user of this computer who may use it; nil for any.
  package let user: UInt32?
  /// The end of the link, or of the session, whatever is done with it.
  package let expires: Timestamp

  package init(rights: Set<WebRight>, inbox: String?, name: String, user: UInt32?, expires: Timestamp) {
    self.rights = rights
    self.inbox = inbox
    self.name = name
    self.user = user
    self.expires = expires
  }
}

/// A session of a browser.
package struct WebSession: Codable, Sendable {
  /// Begins the idempotency keys of what it sends.
  package let id: String
  package let grant: Grant
  /// The user of this computer who opened it; nil if the kernel did not tell.
  package let user: UInt32?
  /// When it was last used, to the hour.
  package let lastSeen: Timestamp

  package var inbox: InboxID? { grant.inbox.map(InboxID.init(unchecked:)) }

  /// Tells its own requests from those of others.
  package var keyPrefix: String { "web-\(id)-" }

  package func may(_ right: WebRight) -> Bool { grant.rights.contains(right) }
}
