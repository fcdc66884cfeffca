import Clusters
import Messages

/// A row of `requests`. `Schema.swift` explains the columns.
package struct RequestRow: TableRow, Equatable {
  /// Rows grow with acceptance.
  package var row: Int64 = 0
  package var request = ""
  package var droppedAs = ""
  package var inode: UInt64 = 0
  package var born: Int64 = 0
  package var conversationRow: Int64?
  package var inbox = InboxID(unchecked: "")
  package var key: String?
  package var digest: String?
  package var state = RequestState.failed
  package var cause: Cause?
  package var error: String?
  package var bytes = 0
  package var duplicateOf: String?
  package var acceptedAt = Timestamp(milliseconds: 0)
  package var finishedAt: Timestamp?
  /// 1: its directory is at its last place; 2: it stays, because its owner does not let the daemon move it.
  package var filed = 0
  package var isRestored = false
  package var owner: Int64?
  /// The record of the cluster's queue that has it, or may have it.
  package var record: RecordID?

  static let table = Table("requests", of: Self.self)

  package init() {}

  mutating func visit(_ column: inout some ColumnVisitor) {
    column.number(&row)
    column("request", &request, "dropped_as", &droppedAs, "inode", &inode)
    column("born", &born, "conversation_id", &conversationRow, "inbox", &inbox)
    column("idempotency_key", &key, "digest", &digest, "state", &state)
    column("cause", &cause, "error", &error, "bytes", &bytes)
    column("duplicate_of", &duplicateOf, "accepted_at", &acceptedAt, "finished_at", &finishedAt)
    column("filed", &filed, "restored", &isRestored, "owner", &owner)
    column("record", &record)
  }

  /// Whether its directory is at its last place.
  package var isFiled: Bool { filed == 1 }

  /// A new request, as its client dropped it.
  init(_ new: NewRequest, as name: String, to conversation: Int64?, at now: Timestamp) {
    self.init()
    request = name
    droppedAs = new.droppedAs
    inode = new.inode
    born = new.born
    conversationRow = conversation
    inbox = new.inbox
    owner = new.owner
    acceptedAt = now
    guard case .success(let contents) = new.contents else { return }
    key = contents.key
    digest = contents.digest
    bytes = contents.parts.reduce(0) { $0 + $1.bytes }
  }
}
