import GRDB
import Messages

/// A message of a conversation, or a photo that others announced there.
package struct TimelineEntry: Decodable, Sendable, FetchableRecord {
  package let message: MessageID
  /// It was sent from here.
  package let isOwn: Bool
  /// nil if unknown.
  package let sender: String?
  package let kind: MessageKind
  /// Its file as dropped; empty for a received photo.
  package let file: String
  /// When it was accepted here.
  package let time: Timestamp
  /// nil for a received photo, and once the janitor has forgotten the request.
  package let request: String?
  package let requestState: RequestState?
  /// The request's idempotency key.
  package let key: String?
  /// nil for a received photo, and for one of a forgotten request that was not published.
  package let state: MessageState?
  /// nil for a photo that was sent.
  package let received: ReceivedState?
  /// Only its blurred preview may be shown.
  package let isHidden: Bool
  package let cause: String?
  package let error: String?
  package let nextAttempt: Timestamp?
  package let sentAt: Timestamp?
  /// The size of the photo as prepared, else as dropped or announced; of a text as dropped. 0 if unknown.
  package let bytes: Int
  /// SHA-256 of the file as dropped; nil for a received photo, and once the request is forgotten.
  package let digest: String?
  private let width: Int?
  private let height: Int?
  /// Its original is in the cache.
  package let hasOriginal: Bool
  /// Its thumbnail and blurred preview are in the cache.
  package let hasThumbnail: Bool

  /// Width and height of the prepared photo in pixels; nil if there is none yet.
  package var size: (width: Int, height: Int)? {
    if let width, let height { (width, height) } else { nil }
  }
}

/// A part of a timeline.
package struct TimelinePage: Sendable {
  /// Oldest first.
  package fileprivate(set) var entries: [TimelineEntry] = []
  /// Where older and newer entries are; nil if there are none.
  package fileprivate(set) var older: PagePlace?
  package fileprivate(set) var newer: PagePlace?

  /// An empty page.
  package init() {}
}

extension LedgerView {
  /// A page of a conversation's timeline, by default the newest entries.
  ///
  /// Messages, announced photos, and photos whose requests are forgotten are read in the order of their rows and merged
  /// by time. The cost depends on the page and not on the conversation.
  ///
  /// - Parameters:
  ///   - inbox: only what was sent or received in this inbox.
  ///   - place: the place before or after which the page lies.
  ///   - isForward: whether the page is after `place`.
  package func timeline(
    of conversation: ConversationID, inbox: InboxID? = nil, from place: PagePlace? = nil, isForward: Bool = false,
    limit: Int = 60
  ) throws -> TimelinePage {
    let start = place ?? PagePlace(numbers: Timeline.sources.map { _ in .max })
    return try read { database in
      guard let row = try database.knownConversation(conversation) else { return TimelinePage() }
      var sources = try Timeline.sources.indices.map { index in
        try TimelineSource(
          database, Timeline.sources[index], conversation: row, inbox: inbox, from: start.numbers[index],
          isForward: isForward)
      }
      var entries: [TimelineEntry] = []
      var nearest = start
      while entries.count < limit, let index = Timeline.next(of: sources, isForward: isForward) {
        guard let (row, entry) = try sources[index].take() else { break }
        nearest.numbers[index] = row
        if let entry { entries.append(entry) }
      }
      let goesOn = sources.contains { $0.head != nil }
      var page = TimelinePage()
      page.entries = isForward ? entries : entries.reversed()
      if isForward {
        page.newer = goesOn ? nearest : nil
        // Rows at `start` and before it; those that were taken begin after it.
        page.older = PagePlace(numbers: start.numbers.map { $0 == .max ? $0 : $0 + 1 })
      } else {
        if place == nil {
          // Later entries are newer than this page, also in a source from which nothing was taken.
          for index in sources.indices where nearest.numbers[index] == .max {
            nearest.numbers[index] = sources[index].head.map { $0["row"] + 1 } ?? 1
          }
        }
        page.older = goesOn ? nearest : nil
        page.newer = place == nil ? nil : PagePlace(numbers: start.numbers.map { $0 - 1 })
      }
      return page
    }
  }

  /// The place after a message or photo, so that the page before it ends with that one; nil if it is unknown.
  package func place(after message: MessageID) throws -> PagePlace? {
    try read { database in
      let found = try Row.fetchOne(
        database,
        sql: """
          SELECT m.conversation_id AS conversation, r.accepted_at AS time
            FROM messages m JOIN requests r ON r.id = m.request_id WHERE m.message = ?1
          UNION ALL SELECT conversation_id, received_at FROM received WHERE message = ?1 AND own = 0
          UNION ALL SELECT conversation_id, created_at FROM photos WHERE message = ?1 LIMIT 1
          """, arguments: [message.text])
      guard let found else { return nil }
      let rows = try database.rows(of: found["conversation"], until: found["time"])
      return PagePlace(numbers: rows.map { $0 + 1 })
    }
  }

  /// The place before the first entry of a time or later; nil for an unknown conversation.
  package func place(before time: Timestamp, in conversation: ConversationID) throws -> PagePlace? {
    try read { database in
      guard let row = try database.knownConversation(conversation) else { return nil }
      return PagePlace(numbers: try database.rows(of: row, until: time.milliseconds - 1))
    }
  }
}

extension Database {
  /// For each source of a timeline, its last row until a time in milliseconds since 1970; 0 for none.
  fileprivate func rows(of conversation: Int64, until time: Int64) throws -> [Int64] {
    try [
      """
      SELECT m.id AS row FROM messages m JOIN requests r ON r.id = m.request_id
      WHERE m.conversation_id = ? AND r.accepted_at <= ? ORDER BY m.id DESC LIMIT 1
      """, "SELECT id AS row FROM received WHERE conversation_id = ? AND received_at <= ? ORDER BY id DESC LIMIT 1",
      "SELECT rowid AS row FROM photos WHERE conversation_id = ? AND created_at <= ? ORDER BY rowid DESC LIMIT 1",
    ].map { try Row.fetchOne(self, sql: $0, arguments: [conversation, time])?["row"] ?? 0 }
  }
}

private enum Timeline {
  static let sources = [messages, announced, photos]

  /// The source with the next entry in time.
  static func next(of sources: [TimelineSource], isForward: Bool) -> Int? {
    let waiting = sources.indices.compactMap { index in sources[index].head.map { (index, $0["time"] as Timestamp) } }
    return (isForward ? waiting.min { $0.1 < $1.1 } : waiting.max { $0.1 <= $1.1 })?.0
  }

  private static let photo = """
    p.width, p.height, coalesce(p.cached_bytes, 0) > 0 AS hasOriginal,
      coalesce(p.cached_thumbnail_bytes, 0) > 0 AS hasThumbnail
    """

  private static let messages = """
    SELECT m.id AS row, r.accepted_at AS time, 1 AS shown, m.message, 1 AS isOwn, NULL AS sender, m.kind, m.file,
      r.request, r.idempotency_key AS key,
      r.state AS requestState, m.state, NULL AS received, 0 AS isHidden, coalesce(m.cause, r.cause) AS cause,
      coalesce(m.error, r.error) AS error, m.next_attempt AS nextAttempt, m.sent_at AS sentAt,
      coalesce(p.bytes, m.bytes) AS bytes, m.digest, \(photo)
    FROM messages m JOIN requests r ON r.id = m.request_id LEFT JOIN photos p ON p.message = m.message
    WHERE m.conversation_id = ?1 AND (?2 IS NULL OR r.inbox = ?2) AND m.draft = 0
      AND r.state NOT IN ('abandoned', 'draft', 'duplicate') AND m.id
    """

  private static let announced = """
    SELECT r.id AS row, r.received_at AS time, 1 AS shown, r.message, 0 AS isOwn, r.sender, 'photo' AS kind,
      '' AS file, NULL AS request, NULL AS key, NULL AS requestState, NULL AS state, r.state AS received,
      r.revealed_at IS NULL AS isHidden, r.cause, r.error, r.next_attempt AS nextAttempt, NULL AS sentAt,
      coalesce(p.bytes, r.attachment ->> '$.contentLength', 0) AS bytes, NULL AS digest, \(photo)
    FROM received r LEFT JOIN photos p ON p.message = r.message
    WHERE r.conversation_id = ?1 AND (?2 IS NULL OR r.inbox = ?2) AND r.own = 0 AND r.state <> 'forgotten' AND r.id
    """

  /// Photos with a message or an announcement come from there, and are not shown here. Those that were published have an
  /// attachment.
  private static let photos = """
    SELECT p.rowid AS row, p.created_at AS time, (m.id IS NULL AND coalesce(r.own, 1) = 1) AS shown, p.message,
      1 AS isOwn, NULL AS sender, 'photo' AS kind, p.file, NULL AS request, NULL AS key, NULL AS requestState,
      iif(p.attachment IS NULL, NULL, 'sent') AS state, NULL AS received,
      0 AS isHidden, NULL AS cause, NULL AS error, NULL AS nextAttempt, p.uploaded_at AS sentAt, p.bytes, NULL AS digest,
      \(photo)
    FROM photos p LEFT JOIN messages m ON m.message = p.message LEFT JOIN received r ON r.message = p.message
    WHERE p.conversation_id = ?1 AND (?2 IS NULL OR p.inbox = ?2) AND p.rowid
    """
}

/// One source of a timeline, read row by row.
private struct TimelineSource {
  private let cursor: RowCursor
  /// The next row; nil at the end.
  private(set) var head: Row?

  init(
    _ database: Database, _ sql: String, conversation: Int64, inbox: InboxID?, from row: Int64, isForward: Bool
  ) throws {
    cursor = try Row.fetchCursor(
      database.kept("\(sql) \(isForward ? ">" : "<") ?3 ORDER BY row \(isForward ? "ASC" : "DESC")"),
      arguments: [conversation, inbox?.text, row])
    head = try cursor.next()?.copy()
  }

  /// The next row and its entry; the entry is nil if another source has it.
  mutating func take() throws -> (row: Int64, entry: TimelineEntry?)? {
    guard let row = head else { return nil }
    head = try cursor.next()?.copy()
    return (row["row"], row["shown"] ? try TimelineEntry(row: row) : nil)
  }
}
