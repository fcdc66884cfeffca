import GRDB
import Messages

/// A line of `photos --received`. Keys are never renamed once released.
package struct ReceivedRecord: Codable, Sendable, FetchableRecord {
  package let message: String
  /// The id of its message on its network.
  package let remote: String
  package let inbox: String
  package let conversation: String
  /// nil if unknown.
  @OrNull package var sender: String?
  package let state: ReceivedState
  /// The progress of its download, 0 to 1, which the ledger does not know.
  @OrNull package var progress: Double?
  /// Only its blurred preview may be shown.
  package let hidden: Bool
  /// The size of the fetched photo, or of its object as announced; nil if neither is known.
  @OrNull package var bytes: Int?
  package let attempts: Int
  @OrNull package var nextAttempt: Timestamp?
  @OrNull package var cause: String?
  @OrNull package var error: String?
  package let receivedAt: Timestamp
}

extension LedgerView {
  /// Visits the photos announced by others, in order of arrival and in constant memory.
  package func forEachReceived(inbox: String?, conversation: String?, _ visit: (ReceivedRecord) throws -> Void) throws {
    let scope = restriction(("r.inbox = ?", inbox), ("c.conversation = ?", conversation))
    try forEach(
      """
      SELECT r.message, r.remote, r.inbox, c.conversation, r.sender, r.state, NULL AS progress,
        r.revealed_at IS NULL AS hidden, coalesce(p.bytes, r.attachment ->> '$.contentLength') AS bytes, r.attempts,
        r.next_attempt AS nextAttempt, r.cause, r.error, r.received_at AS receivedAt
      FROM received r JOIN conversations c ON c.id = r.conversation_id LEFT JOIN photos p ON p.message = r.message
      WHERE r.own = 0 AND r.state <> 'forgotten'\(scope.sql) ORDER BY r.id
      """,
      scope.values, visit)
  }
}
