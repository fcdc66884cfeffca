import GRDB
import Messages

/// What the ledger knows of one photo, sent or received, for those who want to see it.
package struct PhotoStory: Sendable {
  package let message: MessageID
  package let inbox: InboxID
  package let conversation: ConversationID
  /// Nil for a photo of ours that nobody wanted again.
  package let state: ReceivedState?
  /// Nothing but its blurred preview may be shown.
  package let isHidden: Bool
  /// Its files were in the cache, all of them, at some time.
  package let wasCached: Bool
  package let cause: String?
  package let error: String?
  package let nextAttempt: Timestamp?
}

extension LedgerView {
  /// The photos that are called `name`: by their own id, or by that of their message on its network. Several when a
  /// message has several photos, or several inboxes have the message.
  package func photos(called name: String) throws -> [PhotoStory] {
    try read { database in
      let received = try Row.fetchAll(
        database,
        sql: """
          SELECT r.*, c.conversation, r.revealed_at IS NULL AS hidden, p.message IS NOT NULL AS cached FROM received r
            JOIN conversations c ON c.id = r.conversation_id LEFT JOIN photos p ON p.message = r.message
          WHERE r.message = ? OR r.remote = ? ORDER BY r.id LIMIT 100
          """,
        arguments: [name, name])
      let found =
        received.isEmpty
        ? try Row.fetchAll(
          database,
          sql: """
            SELECT p.message, p.inbox, c.conversation, NULL AS state, 0 AS hidden, 1 AS cached, NULL AS cause,
              NULL AS error, NULL AS next_attempt
            FROM photos p JOIN conversations c ON c.id = p.conversation_id WHERE p.message = ?
            """,
          arguments: [name]) : received
      return found.map(PhotoStory.init)
    }
  }
}

extension PhotoStory {
  fileprivate init(_ row: Row) {
    message = MessageID(unchecked: row["message"])
    inbox = InboxID(unchecked: row["inbox"])
    conversation = ConversationID(unchecked: row["conversation"])
    state = (row["state"] as String?).flatMap(ReceivedState.init(rawValue:))
    isHidden = row["hidden"]
    wasCached = row["cached"]
    cause = row["cause"]
    error = row["error"]
    nextAttempt = row["next_attempt"]
  }
}
