import Clusters
import Messages

/// A waiting message with all that a worker needs to send it. Immutable and passed around often; a reference costs less
/// than a copy.
package final class QueuedMessage: Sendable {
  private let own: MessageRow
  private let ofRequest: RequestRow
  private let ofConversation: ConversationRow
  /// When the network was first asked to publish it.
  package let firstTriedAt: Timestamp?

  /// - Parameter row: a row of `selection`.
  init(_ row: borrowing Columns) {
    var rows = RowReader(row)
    own = rows.next()
    ofRequest = rows.next()
    ofConversation = rows.next()
    firstTriedAt = row["first_tried_at"]
  }

  /// Its row; rows grow in order of arrival.
  package var row: Int64 { own.row }
  package var message: MessageID { own.message }
  /// Its place in its request.
  package var position: Int { own.position }
  package var requestRow: Int64 { own.requestRow }
  package var request: String { ofRequest.request }
  package var droppedAs: String { ofRequest.droppedAs }
  package var inode: UInt64 { ofRequest.inode }
  package var born: Int64 { ofRequest.born }
  package var conversationRow: Int64 { own.conversationRow }
  package var conversation: ConversationID { ofConversation.conversation }
  package var inbox: InboxID { ofRequest.inbox }
  package var kind: MessageKind { own.kind }
  package var file: String { own.file }
  package var bytes: Int { own.bytes }
  /// SHA-256 of the file as dropped, in hexadecimal.
  package var digest: String { own.digest }
  package var state: MessageState { own.state }
  /// Attempts to publish so far.
  package var attempts: Int { own.attempts }
  package var nextAttempt: Timestamp? { own.nextAttempt }
  package var acceptedAt: Timestamp { ofRequest.acceptedAt }
  /// The network's id of the message, reserved before publishing.
  package var reserved: String? { own.remote }
  /// Who may have published it; nil if nobody has.
  package var offeredTo: Recipient? { own.offeredTo }
  package var isHeld: Bool { ofConversation.isHeld }
  /// Its request was in `draft/` when this was read.
  package var isDraft: Bool { own.isDraft }
  /// The record of the cluster's queue that has its request, or may have it.
  package var record: RecordID? { ofRequest.record }
  /// Its request waits for an earlier one with the same key.
  package var isDuplicate: Bool { ofRequest.duplicateOf != nil }
}

/// The source of a photo in progress. Clients may change all of it until Send.
package struct PhotoSource: Sendable, Equatable {
  /// SHA-256 of the file as dropped, in hexadecimal.
  package let digest: String
  package let conversation: ConversationID
  package let inbox: InboxID
}

extension QueuedMessage {
  /// The place of its photo in the cache.
  package var place: PhotoPlace { PhotoPlace(inbox: inbox, conversation: conversation, message: message) }
  package var source: PhotoSource { PhotoSource(digest: digest, conversation: conversation, inbox: inbox) }

  /// The columns; conditions follow.
  static let selection = selection(from: "messages m")
  /// The same for waiting messages of a conversation that are not drafts.
  static let selectionOfWaiting = selection(from: "messages m \(LedgerSchema.byWaiting)")

  private static func selection(from messages: String) -> String {
    """
    SELECT \(MessageRow.table.columns(of: "m")), \(RequestRow.table.columns(of: "r")),
      \(ConversationRow.table.columns(of: "c")), coalesce(
        (SELECT min(started_at) FROM attempts a WHERE a.message = m.message AND a.step = 'publish'), m.begun_at
      ) AS first_tried_at
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

  /// Those of `messages` that are not over.
  package func waiting(among messages: [MessageID]) async throws -> Set<MessageID> {
    let array = String(decoding: try json(messages.map(\.text)), as: UTF8.self)
    return Set(
      try await ask { database in
        try database.values(
          """
          SELECT message FROM messages WHERE message IN (SELECT value FROM json_each(?)) AND \(LedgerSchema.waiting)
          """, array) as [MessageID]
      })
  }

  private static let head = """
    \(QueuedMessage.selectionOfWaiting)
    WHERE m.conversation_id = ? AND m.draft = 0 AND \(LedgerSchema.waitingHere(in: "m."))
    ORDER BY m.id LIMIT ?
    """
}
