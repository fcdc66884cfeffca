import GRDB
import Messages

/// All that the ledger knows of one request, as `show` prints it.
public struct RequestStory: Sendable {
  public struct Attempt: Sendable {
    public let number: Int
    /// `prepare`, `upload` or `publish`.
    public let step: String
    public let startedAt: Timestamp
    public let endedAt: Timestamp?
    public let cause: String?
    public let error: String?
  }

  public struct Message: Sendable {
    public let line: QueueLine
    public let file: String
    public let cause: String?
    public let sentAt: Timestamp?
    public let remote: String?
    /// Of the photo as it is sent; nil for a text and for a photo that was not prepared.
    public let photo: Photo?
    public let attempts: [Attempt]
  }

  public struct Photo: Sendable {
    public let format: String
    public let originalWidth: Int
    public let originalHeight: Int
    public let bytes: Int
    public let width: Int
    public let height: Int
    public let path: String
    public let url: String?
  }

  public let request: String
  /// Its name in `new/`; another one where that was taken.
  public let droppedAs: String
  public let state: RequestState
  public let conversation: String?
  public let inbox: String
  public let idempotencyKey: String?
  public let duplicateOf: String?
  public let cause: String?
  public let error: String?
  public let acceptedAt: Timestamp
  public let finishedAt: Timestamp?
  public let messages: [Message]
}

extension LedgerView {
  /// What has become of a request, and whether its directory is at its last place; nil when the ledger does not know it.
  public func state(of request: String) throws -> (state: RequestState, isFiled: Bool)? {
    try read { database in
      try Row.fetchOne(database, sql: "SELECT state, filed FROM requests WHERE request = ?", arguments: [request])
    }.map { (RequestState(rawValue: $0["state"]) ?? .failed, $0["filed"]) }
  }

  /// Whether a request is over and stays where it is, as its owner does not let us move it.
  public func isImmovable(_ request: String) throws -> Bool {
    try read { database in
      try Bool.fetchOne(
        database, sql: "SELECT EXISTS (SELECT 1 FROM requests WHERE request = ? AND filed = 2)", arguments: [request])
    } ?? false
  }

  /// The states of a request's messages, in order.
  public func messageStates(of request: String) throws -> [(message: MessageID, state: MessageState)] {
    try read { database in
      try Row.fetchAll(
        database,
        sql: """
          SELECT m.message, m.state FROM messages m JOIN requests r ON r.id = m.request_id
          WHERE r.request = ? ORDER BY m.position
          """,
        arguments: [request]
      ).map { (MessageID(unchecked: $0["message"]), MessageState(rawValue: $0["state"]) ?? .pending) }
    }
  }

  /// The whole story of a request; nil when the ledger does not know it.
  public func story(of request: String) throws -> RequestStory? {
    try read { database in
      guard
        let row = try Row.fetchOne(
          database,
          sql: """
            SELECT r.*, c.conversation FROM requests r LEFT JOIN conversations c ON c.id = r.conversation_id
            WHERE r.request = ?
            """,
          arguments: [request])
      else { return nil }
      return RequestStory(
        request: row["request"], droppedAs: row["dropped_as"], state: RequestState(rawValue: row["state"]) ?? .failed,
        conversation: (row["conversation"] as String?).map { ConversationID(unchecked: $0).description },
        inbox: row["inbox"], idempotencyKey: row["idempotency_key"],
        duplicateOf: row["duplicate_of"], cause: row["cause"], error: row["error"],
        acceptedAt: Timestamp(milliseconds: row["accepted_at"]),
        finishedAt: (row["finished_at"] as Int64?).map(Timestamp.init(milliseconds:)),
        messages: try Self.messages(ofRequest: row["id"], in: database))
    }
  }

  private static func messages(ofRequest request: Int64, in database: Database) throws -> [RequestStory.Message] {
    try Row.fetchAll(
      database,
      sql: """
        SELECT m.*, r.request, r.inbox, r.accepted_at, c.conversation, c.held, p.format, p.original_width,
          p.original_height, p.bytes AS sent_bytes, p.width, p.height, p.path, p.url
        FROM messages m JOIN requests r ON r.id = m.request_id JOIN conversations c ON c.id = m.conversation_id
          LEFT JOIN photos p ON p.message = m.message
        WHERE m.request_id = ? ORDER BY m.position
        """,
      arguments: [request]
    ).map { row in
      RequestStory.Message(
        line: QueueLine(row), file: row["file"], cause: row["cause"],
        sentAt: (row["sent_at"] as Int64?).map(Timestamp.init(milliseconds:)), remote: row["remote"],
        photo: (row["format"] as String?).map { format in
          RequestStory.Photo(
            format: format, originalWidth: row["original_width"], originalHeight: row["original_height"],
            bytes: row["sent_bytes"], width: row["width"], height: row["height"], path: row["path"], url: row["url"])
        },
        attempts: try attempts(of: row["message"], in: database) + [lastAttempt(row)].compactMap { $0 })
    }
  }

  /// The one that runs, or that succeeded: it stands in the message's row.
  private static func lastAttempt(_ message: Row) -> RequestStory.Attempt? {
    (message["begun_at"] as Int64?).map { begun in
      RequestStory.Attempt(
        number: message["attempts"], step: "publish", startedAt: Timestamp(milliseconds: begun),
        endedAt: (message["sent_at"] as Int64?).map(Timestamp.init(milliseconds:)), cause: nil,
        // It was in doubt when its request failed for another message.
        error: ["publishing", "sent"].contains(message["state"] as String) ? nil : Database.interrupted)
    }
  }

  private static func attempts(of message: String, in database: Database) throws -> [RequestStory.Attempt] {
    try Row.fetchAll(
      database, sql: "SELECT * FROM attempts WHERE message = ? ORDER BY id", arguments: [message]
    ).map { row in
      RequestStory.Attempt(
        number: row["number"], step: row["step"], startedAt: Timestamp(milliseconds: row["started_at"]),
        endedAt: (row["ended_at"] as Int64?).map(Timestamp.init(milliseconds:)), cause: row["cause"],
        error: row["error"])
    }
  }
}
