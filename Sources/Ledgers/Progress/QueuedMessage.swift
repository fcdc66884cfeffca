import Messages

/// A waiting message with all that a worker needs to send it. Immutable and passed around often; a reference costs less
/// than a copy.
package final class QueuedMessage: Sendable {
  /// Its row; rows grow in order of arrival.
  package let row: Int64
  package let message: MessageID
  package let requestRow: Int64
  package let request: String
  package let droppedAs: String
  package let inode: UInt64
  package let born: Int64
  package let conversationRow: Int64
  package let conversation: ConversationID
  package let inbox: InboxID
  package let kind: MessageKind
  package let file: String
  package let bytes: Int
  /// SHA-256 of the file as dropped, in hexadecimal.
  package let digest: String
  package let state: MessageState
  /// Attempts to publish so far.
  package let attempts: Int
  package let acceptedAt: Timestamp
  /// The network's id of the message, reserved before publishing.
  package let reserved: String?
  /// When the network was first asked to publish it.
  package let firstTriedAt: Timestamp?
  /// Its conversation is held.
  package let isHeld: Bool
  /// Its request was in `draft/` when this was read.
  package let isDraft: Bool
  /// Its request waits for an earlier one with the same key.
  package let isDuplicate: Bool

  /// - Parameter row: a row of `selection`.
  init(_ row: borrowing Columns) {
    self.row = row[Column.row]
    message = MessageID(unchecked: row[Column.message])
    requestRow = row[Column.requestRow]
    request = row[Column.request]
    droppedAs = row[Column.droppedAs]
    inode = UInt64(bitPattern: row[Column.inode])
    born = row[Column.born]
    conversationRow = row[Column.conversationRow]
    conversation = ConversationID(unchecked: row[Column.conversation])
    inbox = InboxID(unchecked: row[Column.inbox])
    kind = MessageKind(rawValue: row[Column.kind]) ?? .photo
    file = row[Column.file]
    bytes = row[Column.bytes]
    digest = row[Column.digest]
    state = MessageState(rawValue: row[Column.state]) ?? .pending
    attempts = row[Column.attempts]
    acceptedAt = Timestamp(milliseconds: row[Column.acceptedAt])
    reserved = row[Column.reserved]
    firstTriedAt = row.time(Column.firstTriedAt)
    isHeld = row[Column.isHeld]
    isDraft = row[Column.isDraft]
    isDuplicate = row[Column.isDuplicate]
  }

  /// The columns of a message `m`, its request `r` and its conversation `c`.
  enum Column: Int32, ColumnName {
    case row, message, requestRow, request, droppedAs, inode, born, conversationRow, conversation, inbox, kind, file,
      bytes
    case digest, state, attempts, acceptedAt, reserved, firstTriedAt, isHeld, isDraft, isDuplicate, nextAttempt

    var sql: String {
      switch self {
      case .row: "m.id"
      case .message: "m.message"
      case .requestRow: "m.request_id"
      case .request: "r.request"
      case .droppedAs: "r.dropped_as"
      case .inode: "r.inode"
      case .born: "r.born"
      case .conversationRow: "m.conversation_id"
      case .conversation: "c.conversation"
      case .inbox: "r.inbox"
      case .kind: "m.kind"
      case .file: "m.file"
      case .bytes: "m.bytes"
      case .digest: "m.digest"
      case .state: "m.state"
      case .attempts: "m.attempts"
      case .acceptedAt: "r.accepted_at"
      case .reserved: "m.remote"
      case .firstTriedAt:
        """
        coalesce(
          (SELECT min(started_at) FROM attempts a WHERE a.message = m.message AND a.step = 'publish'), m.begun_at)
        """
      case .isHeld: "c.held"
      case .isDraft: "m.draft"
      case .isDuplicate: "r.duplicate_of IS NOT NULL"
      case .nextAttempt: "m.next_attempt"
      }
    }
  }
}

/// The source of a photo in progress. Clients may change all of it until Send.
package struct PhotoSource: Sendable, Equatable {
  /// SHA-256 of the file as dropped, in hexadecimal.
  package let digest: String
  package let conversation: ConversationID
  package let inbox: InboxID
}

extension QueuedMessage {
  package var source: PhotoSource { PhotoSource(digest: digest, conversation: conversation, inbox: inbox) }

  /// The columns; conditions follow.
  static let selection = selection(from: "messages m")
  /// The same for waiting messages of a conversation that are not drafts.
  static let selectionOfWaiting = selection(from: "messages m \(LedgerSchema.byWaiting)")

  private static func selection(from messages: String) -> String {
    """
    SELECT \(Column.selected)
    FROM \(messages) JOIN requests r ON r.id = m.request_id JOIN conversations c ON c.id = m.conversation_id
    """
  }
}

extension Ledger {
  /// The first `limit` waiting messages of a conversation, in order.
  package func head(of conversation: Int64, limit: Int) async throws -> [QueuedMessage] {
    try await ask { database in
      try database.all(Self.head, conversation, limit) { QueuedMessage($0) }
    }
  }

  /// The waiting text of a request, if any.
  package func text(ofRequest row: Int64) async throws -> QueuedMessage? {
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
