import GRDB
import Messages

/// A photo, sent or received, for the commands that show it.
package struct PhotoStory: Sendable {
  package let message: MessageID
  package let inbox: InboxID
  package let conversation: ConversationID
  /// nil for a sent photo that was not requested again.
  package let state: ReceivedState?
  /// Only its blurred preview may be shown.
  package let isHidden: Bool
  /// All its files were in the cache at some time.
  package let wasCached: Bool
  package let cause: String?
  package let error: String?
  package let nextAttempt: Timestamp?
}

extension LedgerView {
  /// The photos named `name`, by their own id or by the message's id on its network. Several if a message has several
  /// photos or arrived in several inboxes.
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
