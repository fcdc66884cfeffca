import GRDB
import Messages

extension LedgerView {
  /// The photos before and after a photo in its conversation, in the order in which they came into the cache.
  ///
  /// - Parameter inbox: only those of this inbox.
  package func neighbours(
    of photo: MessageID, inbox: InboxID? = nil
  ) throws -> (previous: MessageID?, next: MessageID?) {
    try read { database in
      func nearest(_ comparison: String, _ order: String) throws -> MessageID? {
        try String.fetchOne(
          database,
          sql: """
            SELECT o.message FROM photos p JOIN photos o ON o.conversation_id = p.conversation_id
            WHERE p.message = ?1 AND o.rowid \(comparison) p.rowid AND (?2 IS NULL OR o.inbox = ?2)
              AND o.cached_thumbnail_bytes > 0
            ORDER BY o.rowid \(order) LIMIT 1
            """,
          arguments: [photo.text, inbox?.text]
        ).map(MessageID.init(unchecked:))
      }
      return (try nearest("<", "DESC"), try nearest(">", "ASC"))
    }
  }

  /// When a photo came into the cache; nil if it is unknown.
  package func time(of photo: MessageID) throws -> Timestamp? {
    try read { database in
      try Timestamp.fetchOne(
        database, sql: "SELECT created_at FROM photos WHERE message = ?", arguments: [photo.text])
    }
  }
}
