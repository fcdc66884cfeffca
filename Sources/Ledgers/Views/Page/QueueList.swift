import GRDB
import Messages

/// A request that waits or has failed, in the list of a queue.
package struct QueuedRequest: Decodable, Sendable, FetchableRecord {
  package let request: String
  /// nil if it could not be read.
  package let conversation: ConversationID?
  package let isFailed: Bool
  /// Its first message that is not sent; nil for a refused request.
  package let message: MessageID?
  /// That message's state; nil for a refused request.
  package let state: MessageState?
  /// Its messages, and their bytes as dropped.
  package let messages: Int
  package let bytes: Int
  /// Those of the first message that is not sent.
  package let attempts: Int
  package let nextAttempt: Timestamp?
  package let error: String?
  package let acceptedAt: Timestamp
  package let isHeld: Bool
  /// The store or network that its conversation waits for.
  package let waitsFor: String?
  private let time: Int64
  private let row: Int64

  fileprivate var place: PagePlace { PagePlace(numbers: [time, row]) }
}

extension LedgerView {
  /// The requests of a filter, latest first: by acceptance, and failed ones by their failure.
  ///
  /// - Parameter place: the end of the page before.
  /// - Returns: a page, and its end if there are more.
  package func queue(
    _ filter: QueueFilter, after place: PagePlace? = nil, limit: Int = 60
  ) throws -> (requests: [QueuedRequest], end: PagePlace?) {
    var values = filter.values
    let last = place?.numbers ?? [.max, .max]
    (values["time"], values["row"], values["limit"]) = (last[0], last[1], limit + 1)
    let arms = [
      filter.hasWaiting ? ("accepted_at", filter.waiting) : nil,
      filter.hasFailed ? ("finished_at", filter.failed) : nil,
    ].compactMap(\.self).map { time, source in
      "SELECT r.\(time) AS time, r.id AS row \(source) AND (r.\(time), r.id) < (:time, :row)"
    }
    let sql = """
      WITH page AS (\(arms.joined(separator: " UNION ALL ")) ORDER BY time DESC, row DESC LIMIT :limit)
      \(Self.requests) ORDER BY time DESC, row DESC
      """
    let found = try read { try QueuedRequest.fetchAll($0, sql: sql, arguments: StatementArguments(values)) }
    let page = Array(found.prefix(limit))
    return (page, found.count > limit ? page.last?.place : nil)
  }

  private static let requests = """
    SELECT page.time, page.row, r.request, c.conversation, r.state = 'failed' AS isFailed, m.message, m.state,
      coalesce((SELECT sum(bytes) FROM messages WHERE request_id = r.id), r.bytes) AS bytes,
      (SELECT count(*) FROM messages WHERE request_id = r.id) AS messages, coalesce(m.attempts, 0) AS attempts,
      m.next_attempt AS nextAttempt, coalesce(m.error, r.error) AS error,
      r.accepted_at AS acceptedAt, coalesce(c.held, 0) AS isHeld, c.waits_for AS waitsFor
    FROM page CROSS JOIN requests r ON r.id = page.row LEFT JOIN conversations c ON c.id = r.conversation_id
      LEFT JOIN messages m ON m.id = (SELECT id FROM messages
        WHERE request_id = r.id AND state <> 'sent' ORDER BY position LIMIT 1)
    """

  /// How many requests of a filter wait, and how many have failed.
  package func queueCounts(_ filter: QueueFilter) throws -> (waiting: Int, failed: Int) {
    let arguments = StatementArguments(filter.values)
    return try read { database in
      func count(_ source: String) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT count(*) \(source)", arguments: arguments) ?? 0
      }
      return (
        filter.hasWaiting ? try count(filter.waiting) : 0, filter.hasFailed ? try count(filter.failed) : 0
      )
    }
  }

  /// The names of the waiting or failed requests of a filter, in order of their acceptance or failure.
  ///
  /// - Parameter limit: the number of names at most.
  package func queuedNames(_ filter: QueueFilter, failed: Bool, limit: Int) throws -> [String] {
    guard failed ? filter.hasFailed : filter.hasWaiting else { return [] }
    var values = filter.values
    values["limit"] = limit
    let (source, time) = failed ? (filter.failed, "finished_at") : (filter.waiting, "accepted_at")
    let sql = "SELECT r.request \(source) ORDER BY r.\(time), r.id LIMIT :limit"
    return try read { try String.fetchAll($0, sql: sql, arguments: StatementArguments(values)) }
  }

  /// Those of `names` that failed requests have, or requests that wait.
  ///
  /// - Parameter inbox: only requests of this inbox.
  package func queuedNames(among names: [String], inbox: InboxID?, failed: Bool) throws -> [String] {
    let sql = """
      SELECT request FROM requests WHERE request IN (\(databaseQuestionMarks(count: names.count)))
      AND \(failed ? "state = 'failed' AND filed = 1" : "state = 'queued'")\(inbox == nil ? "" : " AND inbox = ?") ORDER BY id
      """
    let values = names + (inbox.map { [$0.text] } ?? [])
    return try read { try String.fetchAll($0, sql: sql, arguments: StatementArguments(values)) }
  }

  /// When the oldest waiting request was accepted; nil if none waits.
  package func oldestWaiting(inbox: InboxID?) throws -> Timestamp? {
    try read { database in
      try database.value(
        """
        SELECT accepted_at FROM requests INDEXED BY requests_queued
        WHERE state = 'queued' AND (?1 IS NULL OR inbox = ?1) ORDER BY accepted_at LIMIT 1
        """, inbox)
    }
  }

  /// Conversations that wait for a store or network, by its name.
  package func parkedConversations() throws -> [String: Int] {
    try read { database in
      let rows: [(String, Int)] = try database.all(
        """
        SELECT waits_for AS name, count(*) AS count FROM conversations INDEXED BY conversations_parked
        WHERE waits_for IS NOT NULL GROUP BY waits_for
        """
      ) { ($0["name"], $0["count"]) }
      return Dictionary(uniqueKeysWithValues: rows)
    }
  }

  /// The conversations with the most waiting requests, and how many of them are of which age.
  ///
  /// - Parameters:
  ///   - minutes: the upper bounds of the ages; one more count is of older ones.
  ///   - limit: the number of conversations.
  package func ages(
    inbox: InboxID?, minutes: [Int], at now: Timestamp, limit: Int
  ) throws -> [(conversation: ConversationID, counts: [Int])] {
    let columns = Self.ageColumns("accepted_at", minutes, at: now)
    return try read { database in
      try Row.fetchAll(
        database,
        sql: """
          SELECT c.conversation, counts.* FROM (
            SELECT conversation_id, count(*) AS total, \(columns.joined(separator: ", "))
            FROM requests INDEXED BY requests_queued WHERE state = 'queued' AND (?1 IS NULL OR inbox = ?1)
            GROUP BY conversation_id ORDER BY total DESC, conversation_id LIMIT ?2
          ) counts JOIN conversations c ON c.id = counts.conversation_id ORDER BY total DESC, c.conversation
          """, arguments: [inbox?.text, limit]
      ).map { row in
        (ConversationID(unchecked: row["conversation"]), columns.indices.map { row["bucket\($0)"] })
      }
    }
  }
}
