import GRDB
import Messages

/// A photo in the cache that goes when room is needed.
package struct Departure: Decodable, Sendable, FetchableRecord {
  package let message: MessageID
  package let conversation: ConversationID
  /// Bytes of its original.
  package let bytes: Int
  /// nil if it was never viewed.
  package let viewedAt: Timestamp?
  /// Only its blurred preview may be shown.
  package let isHidden: Bool
}

extension LedgerView {
  /// The photos whose originals go first: the least recently viewed of those that can be fetched again.
  ///
  /// - Parameter inbox: only those of this inbox.
  package func departures(inbox: InboxID?, limit: Int) throws -> [Departure] {
    let index = inbox == nil ? "photos_by_recency" : "photos_by_inbox"
    let scope = restriction(("inbox = ?", inbox?.text))
    return try read { database in
      try Departure.fetchAll(
        database,
        sql: """
          SELECT p.message, c.conversation, p.cached_bytes AS bytes, p.viewed_at AS viewedAt,
            r.message IS NOT NULL AND r.revealed_at IS NULL AND r.own = 0 AS isHidden
          FROM (SELECT message, conversation_id, cached_bytes, viewed_at, recency FROM photos INDEXED BY \(index)
            WHERE \(LedgerSchema.evictable) AND fetchable = 1\(scope.sql) ORDER BY recency LIMIT \(limit)) p
            JOIN conversations c ON c.id = p.conversation_id LEFT JOIN received r ON r.message = p.message
          ORDER BY p.recency
          """, arguments: scope.values)
    }
  }

  /// The end of the janitor's last pass; nil if it never ran.
  package func janitorRan() throws -> Timestamp? {
    try read { try $0.value("SELECT value FROM counts WHERE name = 'janitor_ran' AND value > 0") }
  }
}
