import Messages

/// A row of `received`. `Schema.swift` explains the columns.
struct ReceivedRow: TableRow {
  var row: Int64 = 0
  var message = MessageID(unchecked: "")
  var inbox = InboxID(unchecked: "")
  var conversationRow: Int64 = 0
  var remote = ""
  var position = 0
  var isOwn = false
  var digest = ""
  var attachment = ""
  var state = ReceivedState.offered
  var attempts = 0
  var nextAttempt: Timestamp?
  var cause: String?
  var error: String?
  var receivedAt = Timestamp(milliseconds: 0)
  var wantedAt: Timestamp?
  var revealedAt: Timestamp?
  var host = ""
  var sender: SenderID?

  static let table = Table("received", of: Self.self)

  mutating func visit(_ column: inout some ColumnVisitor) {
    column.number(&row)
    column("message", &message, "inbox", &inbox, "conversation_id", &conversationRow)
    column("remote", &remote, "position", &position, "own", &isOwn)
    column("digest", &digest, "attachment", &attachment, "state", &state)
    column("attempts", &attempts, "next_attempt", &nextAttempt, "cause", &cause)
    column("error", &error, "received_at", &receivedAt, "wanted_at", &wantedAt)
    column("revealed_at", &revealedAt, "host", &host, "sender", &sender)
  }
}
