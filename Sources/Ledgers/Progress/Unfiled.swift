import GRDB
import Messages

/// A finished request whose directory is not at its final place yet.
package struct UnfiledRequest: Sendable {
  package struct Message: Sendable {
    package let message: MessageID
    package let kind: MessageKind
    package let state: MessageState
    package let bytes: Int
    package let sentAt: Timestamp?
    package let remote: String?
    package let url: String?
    package let contentDigest: String?
    package let width: Int?
    package let height: Int?
  }

  package let row: Int64
  package let request: String
  package let droppedAs: String
  package let inode: UInt64
  package let born: Int64
  package let conversation: ConversationID?
  package let inbox: InboxID
  package let key: String?
  /// SHA-256 of all that the client wrote, in hexadecimal.
  package let digest: String?
  package let state: RequestState
  package let error: String?
  package let duplicateOf: String?
  package let acceptedAt: Timestamp
  package let finishedAt: Timestamp
  package fileprivate(set) var messages: [Message] = []
}

extension Ledger {
  /// The first `limit` finished requests that are not filed, oldest first, except immovable ones.
  package func unfiled(limit: Int) async throws -> [UnfiledRequest] {
    try await requests(LedgerSchema.unfiled, after: 0, limit: limit)
  }

  /// The first `limit` finished, immovable requests after `row`, oldest first.
  package func immovable(after row: Int64, limit: Int) async throws -> [UnfiledRequest] {
    try await requests("filed = 2", after: row, limit: limit)
  }

  private func requests(_ condition: String, after row: Int64, limit: Int) async throws -> [UnfiledRequest] {
    try await read { database in
      try database.all("\(Self.over) WHERE \(condition) AND r.id > ? ORDER BY r.id LIMIT ?", row, limit) {
        UnfiledRequest($0)
      }.map { request in
        var request = request
        request.messages = try database.receiptMessages(ofRequest: request.row)
        return request
      }
    }
  }

  private static let over = """
    SELECT \(UnfiledRequest.Column.selected)
    FROM requests r LEFT JOIN conversations c ON c.id = r.conversation_id
    """

  /// Records that the directories of these requests are durably at their final place. Those of `immovable` stay,
  /// because their owners do not let the daemon move them.
  package func markFiled(_ rows: [Int64], immovable: [Int64] = []) async throws {
    try await write { database in
      for row in rows { try database.run("UPDATE requests SET filed = 1 WHERE id = ?", row) }
      for row in immovable { try database.run("UPDATE requests SET filed = 2 WHERE id = ?", row) }
    }
  }
}

extension UnfiledRequest {
  fileprivate enum Column: Int32, ColumnName {
    case row, request, droppedAs, inode, born, conversation, inbox, key, digest, state, error, duplicateOf, acceptedAt
    case finishedAt

    var sql: String {
      switch self {
      case .row: "r.id"
      case .request: "r.request"
      case .droppedAs: "r.dropped_as"
      case .inode: "r.inode"
      case .born: "r.born"
      case .conversation: "c.conversation"
      case .inbox: "r.inbox"
      case .key: "r.idempotency_key"
      case .digest: "r.digest"
      case .state: "r.state"
      case .error: "r.error"
      case .duplicateOf: "r.duplicate_of"
      case .acceptedAt: "r.accepted_at"
      case .finishedAt: "coalesce(r.finished_at, r.accepted_at)"
      }
    }
  }

  fileprivate init(_ row: borrowing Columns) {
    self.row = row[Column.row]
    request = row[Column.request]
    droppedAs = row[Column.droppedAs]
    inode = UInt64(bitPattern: row[Column.inode])
    born = row[Column.born]
    conversation = (row[Column.conversation] as String?).map(ConversationID.init(unchecked:))
    inbox = InboxID(unchecked: row[Column.inbox])
    key = row[Column.key]
    digest = row[Column.digest]
    state = RequestState(rawValue: row[Column.state]) ?? .failed
    error = row[Column.error]
    duplicateOf = row[Column.duplicateOf]
    acceptedAt = Timestamp(milliseconds: row[Column.acceptedAt])
    finishedAt = Timestamp(milliseconds: row[Column.finishedAt])
  }
}

extension Database {
  fileprivate func receiptMessages(ofRequest request: Int64) throws -> [UnfiledRequest.Message] {
    try all(
      """
      SELECT m.message, m.kind, m.state, coalesce(p.bytes, m.bytes), m.sent_at, m.remote, p.url,
        json_extract(p.attachment, '$.contentDigest'), p.width, p.height
      FROM messages m LEFT JOIN photos p ON p.message = m.message WHERE m.request_id = ? ORDER BY m.position
      """, request
    ) { row in
      UnfiledRequest.Message(
        message: MessageID(unchecked: row[0]), kind: MessageKind(rawValue: row[1]) ?? .photo,
        state: MessageState(rawValue: row[2]) ?? .failed, bytes: row[3], sentAt: row.time(4), remote: row[5],
        url: row[6], contentDigest: row[7], width: row[8], height: row[9])
    }
  }
}
