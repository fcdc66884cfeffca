import GRDB
import Messages

/// A message that waits, with all that a worker needs to send it.
public struct QueuedMessage: Sendable {
  /// Its row; rows grow in order of arrival.
  public let row: Int64
  public let message: MessageID
  public let requestRow: Int64
  public let request: String
  public let droppedAs: String
  public let inode: UInt64
  public let born: Int64
  public let conversationRow: Int64
  public let conversation: ConversationID
  public let inbox: InboxID
  public let kind: MessageKind
  public let file: String
  public let bytes: Int
  /// SHA-256 of the file as dropped, in hexadecimal.
  public let digest: String
  public let state: MessageState
  /// Attempts to publish that were begun.
  public let attempts: Int
  public let acceptedAt: Timestamp
  /// The network's id of the message, reserved before it is published.
  public let reserved: String?
  /// When the network was first asked to publish it.
  public let firstTriedAt: Timestamp?
  /// Publishing in its conversation is stopped.
  public let isHeld: Bool
  /// Its request lies in `draft/`, or did when this was read.
  public let isDraft: Bool

  init(_ row: Row) {
    self.row = row["id"]
    message = MessageID(unchecked: row["message"])
    requestRow = row["request_id"]
    request = row["request"]
    droppedAs = row["dropped_as"]
    inode = UInt64(bitPattern: row["inode"])
    born = row["born"]
    conversationRow = row["conversation_id"]
    conversation = ConversationID(unchecked: row["conversation"])
    inbox = InboxID(unchecked: row["inbox"])
    kind = MessageKind(rawValue: row["kind"]) ?? .photo
    file = row["file"]
    bytes = row["bytes"]
    digest = row["digest"]
    state = MessageState(rawValue: row["state"]) ?? .pending
    attempts = row["attempts"]
    acceptedAt = Timestamp(milliseconds: row["accepted_at"])
    reserved = row["remote"]
    firstTriedAt = (row["first_tried_at"] as Int64?).map(Timestamp.init(milliseconds:))
    isHeld = row["held"]
    isDraft = row["draft"]
  }
}

/// What a photo on its way was made from and for. Until Send a client may change all of it.
public struct PhotoSource: Sendable, Equatable {
  /// SHA-256 of the file as dropped, in hexadecimal.
  public let digest: String
  public let conversation: ConversationID
  public let inbox: InboxID
}

extension QueuedMessage {
  public var source: PhotoSource { PhotoSource(digest: digest, conversation: conversation, inbox: inbox) }

  /// Selects what `init(_:)` reads, and `next_attempt`; conditions follow.
  static let selection = selection(from: "messages m")
  /// The same, for conditions by which all of them wait in a conversation and are no drafts.
  static let selectionOfWaiting = selection(from: "messages m \(LedgerSchema.byWaiting)")

  private static func selection(from messages: String) -> String {
    """
    SELECT m.id, m.message, m.request_id, m.conversation_id, m.kind, m.file, m.bytes, m.digest, m.state, m.attempts,
      m.remote, m.next_attempt, m.draft, r.request, r.dropped_as, r.inode, r.born, r.inbox, r.accepted_at, c.conversation, c.held,
      (SELECT min(started_at) FROM attempts a WHERE a.message = m.message AND a.step = 'publish') AS first_tried_at
    FROM \(messages) JOIN requests r ON r.id = m.request_id JOIN conversations c ON c.id = m.conversation_id
    """
  }
}

extension Ledger {
  /// The first `limit` waiting messages of a conversation, in order.
  public func head(of conversation: Int64, limit: Int) async throws -> [QueuedMessage] {
    try await ask { database in
      try Array(
        Row.fetchCursor(
          database.kept(
            """
            \(QueuedMessage.selectionOfWaiting)
            WHERE m.conversation_id = ? AND m.draft = 0 AND \(LedgerSchema.waiting(in: "m."))
            ORDER BY m.id LIMIT ?
            """),
          arguments: [conversation, limit]
        ).map(QueuedMessage.init))
    }
  }
}
