import Messages

/// A request as intake writes it into the ledger.
package struct NewRequest: Sendable {
  /// A message to be.
  package struct Part: Sendable {
    package let message: @Sendable (_ request: String) -> MessageID
    package let kind: MessageKind
    package let file: String
    /// The file's size as dropped, in bytes.
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

  /// The contents of a valid request.
  package struct Contents: Sendable {
    package let conversation: ConversationID
    package let key: String?
    /// SHA-256 of all that the client wrote, in hexadecimal.
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
  /// Its name from now on, unless the ledger knows the directory under another one.
  package var name: String
  /// The inode of the directory, which a move does not change.
  package let inode: UInt64
  package let born: Int64
  package let inbox: InboxID
  /// The user who owns a draft's directory.
  package let owner: Int64?
  /// The contents, or the reason for a refusal.
  package let contents: Result<Contents, DeliveryError>
  /// Whether the directory holds our `error` file with this sentence. On filesystems without times of birth, that
  /// distinguishes a returned request from another with the same inode.
  package var isMarked: @Sendable (_ error: String) -> Bool = { _ in false }

  package init(
    droppedAs: String, inode: UInt64, born: Int64, inbox: InboxID, owner: Int64? = nil,
    contents: Result<Contents, DeliveryError>
  ) {
    self.droppedAs = droppedAs
    name = droppedAs
    self.inode = inode
    self.born = born
    self.inbox = inbox
    self.owner = owner
    self.contents = contents
  }
}

/// Other requests have the names that these are to get. Nothing was changed.
package struct NamesTaken: Error {
  /// The places of these requests in the list to accept.
  package let indices: [Int]
}

/// The ledger's answer to a new request.
package struct Acceptance: Sendable, Equatable {
  package let droppedAs: String
  /// Its name from now on.
  package let request: String
  package let state: RequestState
  package let error: String?
  /// The ledger already knew the directory: its move out of `new/` was interrupted.
  package let wasKnown: Bool
  package var wasDraft = false
  /// Photos of a draft that were replaced before Send, whose uploads and cached files must be deleted.
  package var superseded: [SupersededPhoto] = []
}
