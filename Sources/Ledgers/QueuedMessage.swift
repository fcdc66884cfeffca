import Messages

/// A message that waits, with all that a worker needs to send it. It never changes, and goes through many hands: to hand on a
/// reference takes less than to copy it.
public final class QueuedMessage: Sendable {
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
  /// Its request waits for an earlier one with the same key.
  public let isDuplicate: Bool

  /// - Parameter row: as `selection` selects it.
  init(_ row: borrowing Columns) {
    self.row = row[0]
    message = MessageID(unchecked: row[1])
    requestRow = row[2]
    conversationRow = row[3]
    kind = MessageKind(rawValue: row[4]) ?? .photo
    file = row[5]
    bytes = row[6]
    digest = row[7]
    state = MessageState(rawValue: row[8]) ?? .pending
    attempts = row[9]
    reserved = row[10]
    isDraft = row[11]
    request = row[12]
    droppedAs = row[13]
    inode = UInt64(bitPattern: row[14])
    born = row[15]
    inbox = InboxID(unchecked: row[16])
    acceptedAt = Timestamp(milliseconds: row[17])
    conversation = ConversationID(unchecked: row[18])
    isHeld = row[19]
    firstTriedAt = row.time(20)
    isDuplicate = row[21]
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

  /// Selects what `init(_:)` reads, and `next_attempt` at `columnOfNextAttempt`; conditions follow.
  static let selection = selection(from: "messages m")
  /// The same, for conditions by which all of them wait in a conversation and are no drafts.
  static let selectionOfWaiting = selection(from: "messages m \(LedgerSchema.byWaiting)")

  static let columnOfNextAttempt: Int32 = 22

  private static func selection(from messages: String) -> String {
    """
    SELECT m.id, m.message, m.request_id, m.conversation_id, m.kind, m.file, m.bytes, m.digest, m.state, m.attempts,
      m.remote, m.draft, r.request, r.dropped_as, r.inode, r.born, r.inbox, r.accepted_at, c.conversation, c.held,
      coalesce(
        (SELECT min(started_at) FROM attempts a WHERE a.message = m.message AND a.step = 'publish'), m.begun_at),
      r.duplicate_of IS NOT NULL, m.next_attempt
    FROM \(messages) JOIN requests r ON r.id = m.request_id JOIN conversations c ON c.id = m.conversation_id
    """
  }
}

extension Ledger {
  /// The first `limit` waiting messages of a conversation, in order.
  public func head(of conversation: Int64, limit: Int) async throws -> [QueuedMessage] {
    try await ask { database in
      try database.all(Self.head, conversation, limit) { QueuedMessage($0) }
    }
  }

  /// The text of a request that waits to be sent; nil when it has none.
  public func text(ofRequest row: Int64) async throws -> QueuedMessage? {
    try await ask { database in
      try database.first(
        "\(QueuedMessage.selection) WHERE m.request_id = ? AND m.kind = 'text' AND \(LedgerSchema.waiting(in: "m."))",
        row
      ) { QueuedMessage($0) }
    }
  }

  private static let head = """
    \(QueuedMessage.selectionOfWaiting)
    WHERE m.conversation_id = ? AND m.draft = 0 AND \(LedgerSchema.waiting(in: "m."))
    ORDER BY m.id LIMIT ?
    """
}
