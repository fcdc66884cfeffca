import GRDB
import Messages

/// A request as `show` prints it. Keys are never renamed once released.
package struct RequestStory: Codable, Sendable, FetchableRecord {
  package struct Attempt: Codable, Sendable, FetchableRecord {
    package let number: Int
    /// `prepare`, `upload` or `publish`.
    package let step: String
    package let startedAt: Timestamp
    package let endedAt: Timestamp?
    package let cause: String?
    package let error: String?
  }

  package struct Message: Codable, Sendable, FetchableRecord {
    package let message: String
    package let file: String
    package let kind: MessageKind
    package let state: MessageState
    /// The file's size as dropped.
    package let bytes: Int
    /// The SHA-256 of the file as dropped.
    package let digest: String
    /// A sent text that is kept; the ledger has none, so the caller fills it in.
    package var text: String?
    package fileprivate(set) var attempts: [Attempt]
    package let nextAttempt: Timestamp?
    package let cause: String?
    package let error: String?
    package let sentAt: Timestamp?
    package let remote: String?
    /// The photo as sent; nil for a text and before preparation.
    package let photo: Photo?
  }

  package struct Photo: Codable, Sendable {
    package let format: String
    package let originalWidth: Int
    package let originalHeight: Int
    package let bytes: Int
    package let width: Int
    package let height: Int
    package let path: String
    package let url: String?
  }

  package let request: String
  /// Its name in `new/`; the request has another one if that was taken.
  package let droppedAs: String
  package let state: RequestState
  package let conversation: String?
  package let inbox: String
  /// Its idempotency key.
  package let id: String?
  package let duplicateOf: String?
  package let cause: String?
  package let error: String?
  package let acceptedAt: Timestamp
  package let finishedAt: Timestamp?
  package var messages: [Message]
}

extension LedgerView {
  /// The row of a request; nil if unknown.
  package func request(_ name: String) throws -> RequestRow? {
    try read { try $0.first(RequestRow.self, "WHERE request = ?", name) }
  }

  package func messageStates(of request: String) throws -> [(message: MessageID, state: MessageState)] {
    try read { database in
      try database.all(
        MessageRow.self, "WHERE request_id = (SELECT id FROM requests WHERE request = ?) ORDER BY position", request
      ).map { ($0.message, $0.state) }
    }
  }

  package func heldConversation(of request: String) throws -> String? {
    try read { database in
      try database.value(
        """
        SELECT \(Self.conversation) FROM conversations c JOIN requests r ON r.conversation_id = c.id
        WHERE r.request = ? AND c.held <> 0
        """, request)
    }
  }

  /// The story of a request; nil if unknown.
  package func story(of request: String) throws -> RequestStory? {
    try read { database in
      // The lists are empty at first, and filled here.
      var story = try RequestStory.fetchOne(
        database,
        sql: """
          SELECT r.request, r.dropped_as AS droppedAs, r.state, \(Self.conversation), r.inbox, r.idempotency_key AS id,
            r.duplicate_of AS duplicateOf, r.cause, r.error, r.accepted_at AS acceptedAt, r.finished_at AS finishedAt,
            '[]' AS messages
          FROM requests r LEFT JOIN conversations c ON c.id = r.conversation_id WHERE r.request = ?
          """,
        arguments: [request])
      story?.messages = try Self.messages(of: request, in: database)
      return story
    }
  }

  private static func messages(of request: String, in database: Database) throws -> [RequestStory.Message] {
    var messages = try RequestStory.Message.fetchAll(
      database,
      sql: """
        SELECT m.message, m.file, m.kind, m.state, m.bytes, m.digest, NULL AS text, '[]' AS attempts,
          m.next_attempt AS nextAttempt, m.cause, m.error, m.sent_at AS sentAt, m.remote,
          iif(p.format IS NULL, NULL, json_object(
            'format', p.format, 'originalWidth', p.original_width, 'originalHeight', p.original_height,
            'bytes', p.bytes, 'width', p.width, 'height', p.height, 'path', p.path, 'url', p.url)) AS photo
        FROM messages m JOIN requests r ON r.id = m.request_id LEFT JOIN photos p ON p.message = m.message
        WHERE r.request = ? ORDER BY m.position
        """,
      arguments: [request])
    for index in messages.indices {
      messages[index].attempts = try attempts(of: messages[index].message, in: database)
    }
    return messages
  }

  private static func attempts(of message: String, in database: Database) throws -> [RequestStory.Attempt] {
    // The running or successful attempt is in the message's row. It was in doubt if its request failed for another
    // message.
    try RequestStory.Attempt.fetchAll(
      database,
      sql: """
        SELECT * FROM (SELECT number, step, started_at AS startedAt, ended_at AS endedAt, cause, error FROM attempts
          WHERE message = ?1 ORDER BY id)
        UNION ALL SELECT attempts, 'publish', begun_at, sent_at, NULL, iif(state IN ('publishing', 'sent'), NULL, ?2)
        FROM messages WHERE message = ?1 AND begun_at IS NOT NULL
        """,
      arguments: [message, Database.interrupted])
  }
}
