import Messages

/// An accepted request with all that its owner needs, except for the bytes of photos.
package struct RelayedRequest: Codable, Sendable, Equatable {
  package struct Message: Codable, Sendable, Equatable {
    package let message: String
    package let kind: MessageKind
    /// In its request. Published messages of a request that failed before are missing.
    package let position: Int
    package let file: String
    /// The size of the file as dropped, in bytes.
    package let bytes: Int
    /// SHA-256 of the file as dropped, in hexadecimal.
    package let digest: String
    package let text: String?
    /// Whether an earlier owner may have published it.
    package let mayBePublished: Bool

    package init(
      message: String, kind: MessageKind, position: Int, file: String, bytes: Int, digest: String, text: String?,
      mayBePublished: Bool
    ) {
      self.message = message
      self.kind = kind
      self.position = position
      self.file = file
      self.bytes = bytes
      self.digest = digest
      self.text = text
      self.mayBePublished = mayBePublished
    }
  }

  package let host: HostID
  /// Its name at its origin.
  package let request: String
  package let conversation: String
  package let inbox: String
  /// Milliseconds since 1970.
  package let acceptedAt: Int64
  package let messages: [Message]

  package init(
    host: HostID, request: String, conversation: String, inbox: String, acceptedAt: Int64, messages: [Message]
  ) {
    self.host = host
    self.request = request
    self.conversation = conversation
    self.inbox = inbox
    self.acceptedAt = acceptedAt
    self.messages = messages
  }

  /// How many requests a record holds at most.
  package static let mostInRecord = 64

  package var id: RecordID {
    RecordID(host: host, request: request, acceptedAt: Timestamp(milliseconds: acceptedAt))
  }
}
