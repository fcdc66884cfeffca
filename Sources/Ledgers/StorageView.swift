import GRDB
import Messages

/// How much the cache holds of one conversation of an inbox.
public struct ConversationUse: Sendable {
  public let inbox: String
  public let conversation: String
  public let photos: Int
  public let bytes: Int
}

/// One line of `photos`.
public struct PhotoRecord: Sendable {
  public let message: MessageID
  public let inbox: String
  public let conversation: String
  /// Who sent a received one, as far as somebody said so.
  public let sender: String?
  /// Nothing but its blurred preview may be shown.
  public let isHidden: Bool
  /// Its name as dropped.
  public let file: String
  /// Where its files lie, relative to the spool.
  public let path: String
  public let width: Int
  public let height: Int
  /// Bytes of the original in the cache; 0 when it was evicted.
  public let cachedBytes: Int
  public let cachedThumbnailBytes: Int
  public let url: String?
  public let urlExpiresAt: Timestamp?
  /// Its request is not over.
  public let isPinned: Bool
  public let createdAt: Timestamp
  public let uploadedAt: Timestamp?
  public let downloadedAt: Timestamp?
  public let viewedAt: Timestamp?
}

extension LedgerView {
  /// The use of the whole cache first, then that of every inbox that has something there.
  public func cacheUse() throws -> [CacheUse] { try read { try $0.cacheUse() } }

  /// The use of every conversation that has something in the cache, by inbox and name.
  public func forEachConversationUse(_ visit: (ConversationUse) throws -> Void) throws {
    try read { database in
      let rows = try Row.fetchCursor(
        database,
        sql: """
          SELECT p.inbox, c.conversation, sum(p.cached_bytes > 0) AS photos,
            sum(p.cached_bytes + p.cached_thumbnail_bytes) AS bytes
          FROM photos p JOIN conversations c ON c.id = p.conversation_id
          GROUP BY p.inbox, p.conversation_id HAVING bytes > 0 ORDER BY p.inbox, c.conversation
          """)
      while let row = try rows.next() {
        try visit(
          ConversationUse(
            inbox: row["inbox"], conversation: ConversationID(unchecked: row["conversation"]).description,
            photos: row["photos"], bytes: row["bytes"]))
      }
    }
  }

  /// Visits the photos that the ledger knows, least recently viewed first.
  public func forEachPhoto(
    inbox: String?, conversation: String?, _ visit: (PhotoRecord) throws -> Void
  ) throws {
    let conditions = [inbox.map { _ in "p.inbox = ?" }, conversation.map { _ in "c.conversation = ?" }].compactMap {
      $0
    }
    try read { database in
      let rows = try Row.fetchCursor(
        database,
        sql: """
          SELECT p.*, c.conversation, r.sender, r.message IS NOT NULL AND r.revealed_at IS NULL AS hidden
            FROM photos p JOIN conversations c ON c.id = p.conversation_id LEFT JOIN received r ON r.message = p.message
          \(conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")) ORDER BY p.recency
          """,
        arguments: StatementArguments([inbox, conversation].compactMap { $0 }))
      while let row = try rows.next() { try visit(PhotoRecord(row)) }
    }
  }
}

extension PhotoRecord {
  fileprivate init(_ row: Row) {
    func time(_ column: String) -> Timestamp? { (row[column] as Int64?).map(Timestamp.init(milliseconds:)) }
    message = MessageID(unchecked: row["message"])
    inbox = row["inbox"]
    conversation = ConversationID(unchecked: row["conversation"]).description
    sender = row["sender"]
    isHidden = row["hidden"]
    file = row["file"]
    path = row["path"]
    width = row["width"]
    height = row["height"]
    cachedBytes = row["cached_bytes"]
    cachedThumbnailBytes = row["cached_thumbnail_bytes"]
    url = row["url"]
    urlExpiresAt = time("url_expires_at")
    isPinned = row["pinned"]
    createdAt = Timestamp(milliseconds: row["created_at"])
    uploadedAt = time("uploaded_at")
    downloadedAt = time("downloaded_at")
    viewedAt = time("viewed_at")
  }
}
