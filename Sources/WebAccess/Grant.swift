import Messages

/// The rights of a link or a session.
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
  /// The end of the link, or of the session, whatever is done with it.
  package let expires: Timestamp
  /// The only user of this computer who may use the link; nil for all.
  package let user: UInt32?

  /// Such as "see, send".
  package var rightsInWords: String {
    WebRight.allCases.filter(rights.contains).map(\.rawValue).joined(separator: ", ")
  }

  package init(rights: Set<WebRight>, inbox: String?, name: String, expires: Timestamp, user: UInt32? = nil) {
    self.rights = rights
    self.inbox = inbox
    self.name = name
    self.expires = expires
    self.user = user
  }
}
