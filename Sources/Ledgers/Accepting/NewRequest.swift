import Messages

/// A request as intake writes it into the ledger.
package struct NewRequest: Sendable {
  /// One message to be.
  package struct Part: Sendable {
    package let message: @Sendable (_ request: String) -> MessageID
    package let kind: MessageKind
    package let file: String
    /// Bytes of the file as dropped.
    package let bytes: Int
    /// SHA-256 of the file as dropped, in hexadecimal.
    package let digest: String

    package init(
      message: @escaping @Sendable (_ request: String) -> MessageID, kind: MessageKind, file: String, bytes: Int,
      digest: String
    ) {
      self.message = message
      self.kind = kind
      self.file = file
      self.bytes = bytes
      self.digest = digest
    }
  }

  /// What a good request holds.
  package struct Contents: Sendable {
    package let conversation: ConversationID
    package let key: String?
    /// SHA-256 over all that the client wrote, in hexadecimal.
    package let digest: String
    package let parts: [Part]

    package init(conversation: ConversationID, key: String?, digest: String, parts: [Part]) {
      self.conversation = conversation
      self.key = key
      self.digest = digest
      self.parts = parts
    }
  }

  /// Its name in `new/`.
  package let droppedAs: String
  /// The directory itself, wherever it is moved.
  package let inode: UInt64
  package let born: Int64
  package let inbox: InboxID
  /// The user whose directory it is, of a draft.
  package let owner: Int64?
  /// The contents, or the sentence why they were refused.
  package let contents: Result<Contents, DeliveryError>
  /// Whether the directory holds the file `error` that we write with this sentence. It tells a failed request that came back
  /// from another one with the same inode, where the filesystem keeps no time of birth.
  package var isMarked: @Sendable (_ error: String) -> Bool = { _ in false }

  package init(
    droppedAs: String, inode: UInt64, born: Int64, inbox: InboxID, owner: Int64? = nil,
    contents: Result<Contents, DeliveryError>
  ) {
    self.droppedAs = droppedAs
    self.inode = inode
    self.born = born
    self.inbox = inbox
    self.owner = owner
    self.contents = contents
  }
}

/// What the ledger made of a new request.
package struct Acceptance: Sendable, Equatable {
  package let droppedAs: String
  /// The name of the request from here on: the dropped one, or an alternative when that was taken.
  package let request: String
  package let state: RequestState
  package let error: String?
  /// The ledger knew this very directory: its move out of `new/` was interrupted.
  package let wasKnown: Bool
  /// It was a draft until now.
  package var wasDraft = false
  /// Photos of a draft that were replaced before it was sent: what is on its way of them is to be erased.
  package var superseded: [SupersededPhoto] = []
}
