import GRDB
import Messages

/// A conversation in the list of conversations.
package struct ListedConversation: Decodable, Sendable, FetchableRecord {
  package let conversation: ConversationID
  /// The time of its last message or announced photo.
  package let time: Timestamp
  /// The state of its last message; nil if there is none, or a later photo of others.
  package let state: MessageState?
  /// Messages that are not final.
  package let waiting: Int
  package let isHeld: Bool
  /// Requests that failed and are kept.
  package let failed: Int
  package let hasDraft: Bool
  private let lastPhoto: MessageID?
  private let isPhotoHidden: Bool?
  private let row: Int64

  /// The last photo with a thumbnail in the cache, and whether only its blurred preview may be shown.
  package var photo: (message: MessageID, isHidden: Bool)? { lastPhoto.map { ($0, isPhotoHidden ?? false) } }
  fileprivate var place: PagePlace { PagePlace(numbers: [time.milliseconds, row]) }
}

extension LedgerView {
  /// The conversations in which something was sent or received, latest first.
  ///
  /// - Parameters:
  ///   - inbox: only those of this inbox.
  ///   - filter: only those whose names contain this text, in any case of ASCII letters.
  ///   - place: the end of the page before.
  /// - Returns: a page, and its end if there are more.
  package func conversations(
    inbox: InboxID? = nil, filter: String = "", after place: PagePlace? = nil, limit: Int = 60
  ) throws -> (conversations: [ListedConversation], end: PagePlace?) {
    let last = place?.numbers ?? [.max, .max]
    return try read { database in
      let found = try ListedConversation.fetchAll(
        database.kept(Self.list), arguments: [inbox?.text, filter, last[0], last[1], limit + 1])
      let page = Array(found.prefix(limit))
      return (page, found.count > limit ? page.last?.place : nil)
    }
  }

  private static let list = """
    WITH ends AS (
      SELECT c.id, c.conversation, c.waiting, c.held,
        (SELECT m.id FROM messages m JOIN requests r ON r.id = m.request_id
          WHERE m.conversation_id = c.id AND (?1 IS NULL OR r.inbox = ?1) AND m.draft = 0
          ORDER BY m.id DESC LIMIT 1) AS last_message,
        (SELECT id FROM received WHERE conversation_id = c.id AND (?1 IS NULL OR inbox = ?1) AND own = 0
          ORDER BY id DESC LIMIT 1) AS last_received,
        (SELECT rowid FROM photos WHERE conversation_id = c.id AND (?1 IS NULL OR inbox = ?1)
            AND cached_thumbnail_bytes > 0
          ORDER BY rowid DESC LIMIT 1) AS last_photo
      FROM conversations c
      WHERE c.purged = 0 AND unicode(c.conversation) <> 1 AND instr(lower(c.conversation), lower(?2)) > 0
    ), listed AS (
      SELECT ends.*, m.state, r.accepted_at AS sent, coalesce(v.received_at, 0) AS heard,
        max(coalesce(r.accepted_at, 0), coalesce(v.received_at, 0), coalesce(p.created_at, 0)) AS time,
        p.message AS lastPhoto, w.revealed_at IS NULL AND w.own = 0 AS isPhotoHidden
      FROM ends LEFT JOIN messages m ON m.id = last_message LEFT JOIN requests r ON r.id = m.request_id
        LEFT JOIN received v ON v.id = last_received LEFT JOIN photos p ON p.rowid = last_photo
        LEFT JOIN received w ON w.message = p.message
    )
    SELECT page.*, coalesce(failures.count, 0) AS failed,
      EXISTS (SELECT 1 FROM requests
        WHERE state = 'draft' AND conversation_id = page.row AND (?1 IS NULL OR inbox = ?1)) AS hasDraft
    FROM (
      SELECT id AS row, conversation, waiting, held AS isHeld, time, iif(sent >= heard, state, NULL) AS state,
        lastPhoto, isPhotoHidden
      FROM listed WHERE time > 0 AND (time, id) < (?3, ?4) ORDER BY time DESC, id DESC LIMIT ?5
    ) AS page LEFT JOIN (
      SELECT conversation_id, count(*) AS count FROM requests INDEXED BY requests_over
      WHERE state = 'failed' AND filed = 1 AND (?1 IS NULL OR inbox = ?1) GROUP BY conversation_id
    ) AS failures ON failures.conversation_id = page.row ORDER BY time DESC, row DESC
    """

  /// Whether publishing in a conversation is stopped, and its messages that are not final.
  package func state(of conversation: ConversationID) throws -> (isHeld: Bool, waiting: Int) {
    let row = try read { try $0.first(ConversationRow.self, "WHERE conversation = ?", conversation) }
    return (row?.isHeld ?? false, row?.waiting ?? 0)
  }

  /// The photos of a conversation in the cache and their bytes.
  ///
  /// - Parameter inbox: only those of this inbox.
  package func use(of conversation: ConversationID, inbox: InboxID?) throws -> (photos: Int, bytes: Int) {
    try read { database in
      try database.first(
        """
        SELECT sum(cached_bytes > 0) AS photos, sum(cached_bytes + cached_thumbnail_bytes) AS bytes
        FROM photos WHERE conversation_id = (SELECT id FROM conversations WHERE conversation = ?1)
          AND (?2 IS NULL OR inbox = ?2)
        """, conversation, inbox
      ) { ($0["photos"], $0["bytes"]) } ?? (0, 0)
    }
  }

  /// When a photo came into the cache; nil if it is unknown.
  package func time(of photo: MessageID) throws -> Timestamp? {
    try read { try $0.value("SELECT created_at FROM photos WHERE message = ?", photo) }
  }
}
