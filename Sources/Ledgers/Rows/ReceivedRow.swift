import Messages

/// A row of `received`. `Schema.swift` explains the columns.
package struct ReceivedRow: TableRow {
  package var row: Int64 = 0
  /// The photo's id here.
  package var message = MessageID(unchecked: "")
  package var inbox = InboxID(unchecked: "")
  package var conversationRow: Int64 = 0
  /// The message's id on its network.
  package var remote = ""
  /// The photo's place in its message, from 0.
  package var position = 0
  /// It was sent from here and is fetched again.
  package var isOwn = false
  /// SHA-256 of the attachment as dropped, in hexadecimal.
  package var digest = ""
  package var attachment = ""
  package var state = ReceivedState.offered
  package var attempts = 0
  package var nextAttempt: Timestamp?
  package var cause: String?
  package var error: String?
  package var receivedAt = Timestamp(milliseconds: 0)
  package var wantedAt: Timestamp?
  package var revealedAt: Timestamp?
  package var host = ""
  package var sender: SenderID?

  static let table = Table("received", of: Self.self)

  package init() {}

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
