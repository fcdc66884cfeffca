import GRDB
import Messages

/// A line of `storage`. Keys are never renamed once released.
package struct StorageUse: Codable, Sendable, FetchableRecord {
  /// nil for the whole cache.
  @OrNull package var inbox: String?
  /// nil for an inbox and for the whole cache.
  @OrNull package var conversation: String?
  /// Photos with originals.
  package let photos: Int
  /// Bytes of originals, thumbnails and blurred previews.
  package let bytes: Int
  /// nil for a conversation, which has no limit.
  @OrNull package var limit: Int?
  /// Objects of `directory` stores, for the whole cache only; the ledger does not know them.
  package var objects: Int?
  package var objectBytes: Int?

  /// An empty cache.
  package init(limit: Int) {
    photos = 0
    bytes = 0
    self.limit = limit
  }
}

/// A line of `photos`. Keys are never renamed once released.
package struct PhotoRecord: Codable, Sendable, FetchableRecord {
  package let message: String
  package let inbox: String
  package let conversation: String
  /// The sender of a received photo, if known.
  @OrNull package var sender: String?
  /// Only its blurred preview may be shown.
  package let hidden: Bool
  /// `photo`, `thumbnail` (the original was evicted) or `none`.
  package let cached: String
  /// Its request is unfinished, so it is not evicted.
  package let pinned: Bool
  /// Its name as dropped.
  package let file: String
  /// Its directory, relative to the spool.
  package let path: String
  package let width: Int
  package let height: Int
  /// Bytes in the cache.
  package let bytes: Int
  @OrNull package var url: String?
  @OrNull package var urlExpiresAt: Timestamp?
  package let createdAt: Timestamp
  @OrNull package var uploadedAt: Timestamp?
  @OrNull package var downloadedAt: Timestamp?
  @OrNull package var viewedAt: Timestamp?
}

extension LedgerView {
  /// Visits the use of the whole cache, then of every inbox and every conversation with photos.
  ///
  /// - Parameters:
  ///   - inbox: only this inbox and its conversations, without the whole cache.
  ///   - total: the limit of the whole cache, in bytes.
  ///   - each: the limit of every inbox, in bytes.
  package func forEachUse(
    inbox: InboxID? = nil, total: Int, each: Int, _ visit: (StorageUse) throws -> Void
  ) throws {
    try forEach(
      """
      SELECT NULL AS inbox, NULL AS conversation, photos, bytes, ?1 AS "limit" FROM cache_total WHERE ?3 IS NULL
      UNION ALL SELECT * FROM (
        SELECT inbox, NULL, photos, bytes, ?2 FROM cache_use
        WHERE (bytes > 0 OR warned > 0) AND (?3 IS NULL OR inbox = ?3) ORDER BY inbox)
      UNION ALL SELECT * FROM (
        SELECT p.inbox, \(Self.conversation), sum(p.cached_bytes > 0),
          sum(p.cached_bytes + p.cached_thumbnail_bytes) AS bytes, NULL
        FROM photos p JOIN conversations c ON c.id = p.conversation_id
        WHERE ?3 IS NULL OR p.inbox = ?3 GROUP BY p.inbox, p.conversation_id HAVING bytes > 0 ORDER BY p.inbox, c.conversation)
      """,
      [total, each, inbox?.text], visit)
  }

  /// Visits all photos, least recently viewed first.
  package func forEachPhoto(inbox: String?, conversation: String?, _ visit: (PhotoRecord) throws -> Void) throws {
    let scope = restriction(("p.inbox = ?", inbox), ("c.conversation = ?", conversation))
    try forEach(
      """
      SELECT p.message, p.inbox, \(Self.conversation), r.sender,
        r.message IS NOT NULL AND r.revealed_at IS NULL AS hidden,
        CASE WHEN p.cached_bytes > 0 THEN 'photo' WHEN p.cached_thumbnail_bytes > 0 THEN 'thumbnail' ELSE 'none' END
          AS cached,
        p.pinned, p.file, p.path, p.width, p.height, p.cached_bytes + p.cached_thumbnail_bytes AS bytes, p.url,
        p.url_expires_at AS urlExpiresAt, p.created_at AS createdAt, p.uploaded_at AS uploadedAt,
        p.downloaded_at AS downloadedAt, p.viewed_at AS viewedAt
      FROM photos p JOIN conversations c ON c.id = p.conversation_id LEFT JOIN received r ON r.message = p.message
      WHERE TRUE\(scope.sql) ORDER BY p.recency
      """,
      scope.values, visit)
  }
}
