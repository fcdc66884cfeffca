import GRDB
import Messages

/// A line of `queue`: a message, or a request without one. Keys are never renamed once released.
package struct QueueLine: Codable, Sendable {
  package let request: String
  /// nil for a request that is not accepted yet or was refused.
  @OrNull package var message: String?
  @OrNull package var conversation: String?
  @OrNull package var inbox: String?
  @OrNull package var kind: MessageKind?
  package let state: MessageState
  /// The progress of its upload, 0 to 1, which the ledger does not know.
  @OrNull package var progress: Double?
  package let attempts: Int
  @OrNull package var nextAttempt: Timestamp?
  @OrNull package var error: String?
  @OrNull package var acceptedAt: Timestamp?
  /// The file's size as dropped.
  @OrNull package var bytes: Int?
  /// The name in `new/` of a refused request, which may be any.
  package let droppedAs: String?
  /// Its conversation is held.
  package private(set) var isHeld = false
  package private(set) var isDraft = false

  private enum CodingKeys: CodingKey {
    case request, message, conversation, inbox, kind, state, progress, attempts, nextAttempt, error, acceptedAt, bytes
    case droppedAs
  }

  /// A request that is not accepted yet.
  package init(request: String, conversation: String?, isDraft: Bool) {
    self.request = request
    self.conversation = conversation
    self.isDraft = isDraft
    state = .pending
    attempts = 0
    droppedAs = nil
  }
}

extension QueueLine: FetchableRecord {
  package init(row: Row) throws {
    self = try FetchableRecordDecoder().decode(QueueLine.self, from: row)
    isHeld = row["held"]
    isDraft = row["draft"]
  }

  /// The columns of `messages m`, `requests r` and `conversations c`.
  static let columns = """
    r.request, m.message, \(LedgerView.conversation), r.inbox, m.kind, m.state, NULL AS progress, m.attempts,
    m.next_attempt AS nextAttempt, m.error, r.accepted_at AS acceptedAt, m.bytes, c.held, m.draft
    """
}

extension LedgerView {
  /// Visits the waiting messages, or those in `state`, in order of arrival and in constant memory.
  ///
  /// - Parameter lying: directories that were found in `draft/` and `new/` before.
  /// - Returns: the request of each of these directories at the same moment; nil if none is known.
  @discardableResult
  package func forEachLine(
    state: MessageState? = nil, conversation: String? = nil, lying: [(inode: UInt64, born: Int64)] = [],
    _ visit: (QueueLine) throws -> Void
  ) throws -> [String?] {
    let isWaiting = state == nil ? " AND \(LedgerSchema.waiting(in: "m."))" : ""
    let scope = restriction(("m.state = ?", state?.rawValue), ("c.conversation = ?", conversation))
    return try read { database in
      try QueueLine.fetchCursor(
        database,
        sql: """
          SELECT \(QueueLine.columns)
          FROM messages m JOIN requests r ON r.id = m.request_id JOIN conversations c ON c.id = m.conversation_id
          WHERE r.state <> 'abandoned'\(isWaiting)\(scope.sql) ORDER BY m.id
          """,
        arguments: scope.values
      ).forEach(visit)
      return try lying.map { try database.arriving(inode: $0.inode, born: $0.born) }
    }
  }

  /// Visits the refused requests, oldest first; they have no messages.
  package func forEachRefused(conversation: String? = nil, _ visit: (QueueLine) throws -> Void) throws {
    try forEach(
      """
      SELECT r.request, NULL AS message, \(Self.conversation), r.inbox, NULL AS kind, r.state, NULL AS progress,
        0 AS attempts, NULL AS nextAttempt, r.error, r.accepted_at AS acceptedAt, r.bytes, r.dropped_as AS droppedAs,
        0 AS held, 0 AS draft
      FROM requests r LEFT JOIN conversations c ON c.id = r.conversation_id
      WHERE r.state = 'failed' AND NOT EXISTS (SELECT 1 FROM messages WHERE request_id = r.id)
        AND (?1 IS NULL OR c.conversation = ?1) ORDER BY r.id
      """,
      [conversation], visit)
  }
}
