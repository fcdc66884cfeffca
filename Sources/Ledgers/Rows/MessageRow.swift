import Messages

/// A row of `messages`. `Schema.swift` explains the columns.
package struct MessageRow: TableRow {
  /// Rows grow in order of arrival.
  package var row: Int64 = 0
  package var message = MessageID(unchecked: "")
  package var requestRow: Int64 = 0
  package var conversationRow: Int64 = 0
  package var position = 0
  package var kind = MessageKind.photo
  package var file = ""
  package var bytes = 0
  /// SHA-256 of the file as dropped, in hexadecimal.
  package var digest = ""
  package var state = MessageState.pending
  /// Attempts to publish that were begun.
  package var attempts = 0
  package var nextAttempt: Timestamp?
  package var cause: Cause?
  package var error: String?
  package var sentAt: Timestamp?
  package var remote: String?
  /// Whether its request is, or was when read, in `draft/`.
  package var isDraft = false
  package var begunAt: Timestamp?
  /// Who may have published it; nil if nobody has.
  package var offeredTo: Recipient?

  static let table = Table("messages", of: Self.self)

  package init() {}

  mutating func visit(_ column: inout some ColumnVisitor) {
    column.number(&row)
    column("message", &message, "request_id", &requestRow, "conversation_id", &conversationRow)
    column("position", &position, "kind", &kind, "file", &file)
    column("bytes", &bytes, "digest", &digest, "state", &state)
    column("attempts", &attempts, "next_attempt", &nextAttempt, "cause", &cause)
    column("error", &error, "sent_at", &sentAt, "remote", &remote)
    column("draft", &isDraft)
    column("begun_at", &begunAt)
    column("offered_to", &offeredTo)
  }
}
