import Messages

/// A row of `conversations`. `Schema.swift` explains the columns.
package struct ConversationRow: TableRow {
  package var row: Int64 = 0
  package var conversation = ConversationID(unchecked: "")
  package var waiting = 0
  package var isHeld = false
  package var due = Timestamp(milliseconds: 0)
  package var waitsFor: String?
  package var isPurged = false
  package var isKnown = false

  static let table = Table("conversations", of: Self.self)

  mutating func visit(_ column: inout some ColumnVisitor) {
    column.number(&row)
    column("conversation", &conversation, "waiting", &waiting, "held", &isHeld)
    column("due", &due, "waits_for", &waitsFor, "purged", &isPurged)
    column("known", &isKnown)
  }
}
