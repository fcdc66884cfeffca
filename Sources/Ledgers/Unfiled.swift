import GRDB
import Messages

/// A request that is over and whose directory is not at its last place yet.
public struct UnfiledRequest: Sendable {
  public struct Message: Sendable {
    public let message: MessageID
    public let kind: MessageKind
    public let state: MessageState
    public let bytes: Int
    public let sentAt: Timestamp?
    public let remote: String?
    public let url: String?
    public let contentDigest: String?
    public let width: Int?
    public let height: Int?
  }

  public let row: Int64
  public let request: String
  public let droppedAs: String
  public let inode: UInt64
  public let born: Int64
  public let conversation: ConversationID?
  public let inbox: InboxID
  public let key: String?
  /// SHA-256 over all that the client wrote, in hexadecimal.
  public let digest: String?
  public let state: RequestState
  public let error: String?
  public let duplicateOf: String?
  public let acceptedAt: Timestamp
  public let finishedAt: Timestamp
  public let messages: [Message]
}

extension Ledger {
  /// The first `limit` requests that are over and not filed, oldest first.
  public func unfiled(limit: Int) async throws -> [UnfiledRequest] {
    try await read { database in
      try Array(
        Row.fetchCursor(
          database.kept(
            """
            SELECT r.*, c.conversation FROM requests r LEFT JOIN conversations c ON c.id = r.conversation_id
            WHERE \(LedgerSchema.unfiled) ORDER BY r.id LIMIT ?
            """),
          arguments: [limit]
        ).map { try UnfiledRequest($0, messages: database.receiptMessages(ofRequest: $0["id"])) })
    }
  }

  /// The directories of these requests are at their last place, on the disk.
  public func markFiled(_ rows: [Int64]) async throws {
    try await write { database in
      for row in rows {
        try database.run(
          "UPDATE requests SET filed = 1 WHERE id = ?", [row])
      }
    }
  }
}

extension UnfiledRequest {
  init(_ row: Row, messages: [Message]) {
    self.row = row["id"]
    request = row["request"]
    droppedAs = row["dropped_as"]
    inode = UInt64(bitPattern: row["inode"])
    born = row["born"]
    conversation = (row["conversation"] as String?).map(ConversationID.init(unchecked:))
    inbox = InboxID(unchecked: row["inbox"])
    key = row["idempotency_key"]
    digest = row["digest"]
    state = RequestState(rawValue: row["state"]) ?? .failed
    error = row["error"]
    duplicateOf = row["duplicate_of"]
    acceptedAt = Timestamp(milliseconds: row["accepted_at"])
    finishedAt = Timestamp(milliseconds: row["finished_at"] ?? row["accepted_at"])
    self.messages = messages
  }
}

extension Database {
  fileprivate func receiptMessages(ofRequest request: Int64) throws -> [UnfiledRequest.Message] {
    try Array(
      Row.fetchCursor(
        kept(
          """
          SELECT m.message, m.kind, m.state, m.bytes, m.sent_at, m.remote, p.url, p.width, p.height,
            p.bytes AS sent_bytes, json_extract(p.attachment, '$.contentDigest') AS object
          FROM messages m LEFT JOIN photos p ON p.message = m.message WHERE m.request_id = ? ORDER BY m.position
          """),
        arguments: [request]
      ).map { row in
        UnfiledRequest.Message(
          message: MessageID(unchecked: row["message"]), kind: MessageKind(rawValue: row["kind"]) ?? .photo,
          state: MessageState(rawValue: row["state"]) ?? .failed, bytes: row["sent_bytes"] ?? row["bytes"],
          sentAt: (row["sent_at"] as Int64?).map(Timestamp.init(milliseconds:)), remote: row["remote"],
          url: row["url"], contentDigest: row["object"], width: row["width"], height: row["height"])
      })
  }
}
