import Messages

/// A request as intake writes it into the ledger.
public struct NewRequest: Sendable {
  /// One message to be.
  public struct Part: Sendable {
    public let message: @Sendable (_ request: String) -> MessageID
    public let kind: MessageKind
    public let file: String
    /// Bytes of the file as dropped.
    public let bytes: Int
    /// SHA-256 of the file as dropped, in hexadecimal.
    public let digest: String

    public init(
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
  public struct Contents: Sendable {
    public let conversation: ConversationID
    public let key: String?
    /// SHA-256 over all that the client wrote, in hexadecimal.
    public let digest: String
    public let parts: [Part]

    public init(conversation: ConversationID, key: String?, digest: String, parts: [Part]) {
      self.conversation = conversation
      self.key = key
      self.digest = digest
      self.parts = parts
    }
  }

  /// Its name in `new/`.
  public let droppedAs: String
  /// The directory itself, wherever it is moved.
  public let inode: UInt64
  public let born: Int64
  public let inbox: InboxID
  /// The user whose directory it is, of a draft.
  public let owner: Int64?
  /// The contents, or the sentence why they were refused.
  public let contents: Result<Contents, DeliveryError>
  /// Whether the directory holds the file `error` that we write with this sentence. It tells a failed request that came back
  /// from another one with the same inode, where the filesystem keeps no time of birth.
  public var isMarked: @Sendable (_ error: String) -> Bool = { _ in false }

  public init(
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
public struct Acceptance: Sendable, Equatable {
  public let droppedAs: String
  /// The name of the request from here on: the dropped one, or an alternative when that was taken.
  public let request: String
  public let state: RequestState
  public let error: String?
  /// The ledger knew this very directory: its move out of `new/` was interrupted.
  public let wasKnown: Bool
  /// It was a draft until now.
  public var wasDraft = false
  /// Photos of a draft that were replaced before it was sent: what is on its way of them is to be erased.
  public var superseded: [SupersededPhoto] = []
}
