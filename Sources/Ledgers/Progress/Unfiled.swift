import GRDB
import Messages

/// A finished request whose directory is not at its final place yet.
@dynamicMemberLookup
package struct UnfiledRequest: Sendable {
  private let facts: RequestRow
  package let conversation: ConversationID?
  /// In order, with their photos once these are prepared.
  package fileprivate(set) var messages: [(own: MessageRow, photo: PhotoRow?)] = []

  fileprivate init(_ row: borrowing Columns) {
    facts = row.row()
    conversation = row["conversation"]
  }

  package var finishedAt: Timestamp { facts.finishedAt ?? facts.acceptedAt }
  package subscript<Value>(dynamicMember path: KeyPath<RequestRow, Value>) -> Value { facts[keyPath: path] }
}

extension Ledger {
  /// The first `limit` finished requests after `row` that are not filed, oldest first, except immovable ones.
  package func unfiled(after row: Int64 = 0, limit: Int) async throws -> [UnfiledRequest] {
    try await requests(LedgerSchema.unfiled, after: row, limit: limit)
  }

  /// The first `limit` finished, immovable requests after `row`, oldest first.
  package func immovable(after row: Int64, limit: Int) async throws -> [UnfiledRequest] {
    try await requests("filed = 2", after: row, limit: limit)
  }

  private func requests(_ condition: String, after row: Int64, limit: Int) async throws -> [UnfiledRequest] {
    try await read { try $0.requests("WHERE \(condition) AND r.id > ? ORDER BY r.id LIMIT ?", row, limit) }
  }

  /// Records that the directories of these requests are durably at their final place. Those of `immovable` stay,
  /// because their owners do not let the daemon move them.
  package func markFiled(_ rows: [Int64], immovable: [Int64] = []) async throws {
    try await write { database in
      for row in rows { try database.run("UPDATE requests SET filed = 1 WHERE id = ?", row) }
      for row in immovable { try database.run("UPDATE requests SET filed = 2 WHERE id = ?", row) }
    }
  }
}

extension Database {
  /// Requests `r` with their messages.
  func requests<each Value: SQLiteValue>(_ rest: String, _ values: repeat each Value) throws -> [UnfiledRequest] {
    try all("\(UnfiledRequest.selection) \(rest)", repeat each values) { UnfiledRequest($0) }.map { request in
      var request = request
      request.messages = try receiptMessages(ofRequest: request.row)
      return request
    }
  }

  func receiptMessages(ofRequest request: Int64) throws -> [(own: MessageRow, photo: PhotoRow?)] {
    try all(UnfiledRequest.selectionOfMessages, request) { row in
      var rows = RowReader(row)
      let (own, photo): (MessageRow, PhotoRow) = (rows.next(), rows.next())
      return (own, photo.message == own.message ? photo : nil)
    }
  }
}

extension UnfiledRequest {
  fileprivate static let selection = """
    SELECT \(RequestRow.table.columns(of: "r")), c.conversation
    FROM requests r LEFT JOIN conversations c ON c.id = r.conversation_id
    """
  fileprivate static let selectionOfMessages = """
    SELECT \(MessageRow.table.columns(of: "m")), \(PhotoRow.table.columns(of: "p"))
    FROM messages m LEFT JOIN photos p ON p.message = m.message WHERE m.request_id = ? ORDER BY m.position
    """
}
