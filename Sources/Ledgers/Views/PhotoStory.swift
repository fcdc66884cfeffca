import GRDB
import Messages

/// A photo, sent or received, for the commands that show it.
package struct PhotoStory: Decodable, Sendable, FetchableRecord {
  package let message: MessageID
  package let inbox: InboxID
  package let conversation: ConversationID
  /// nil for a sent photo that was not requested again.
  package let state: ReceivedState?
  /// It was sent from here, and is never hidden.
  package let isOwn: Bool
  /// Only its blurred preview may be shown.
  package let isHidden: Bool
  /// All its files were in the cache at some time.
  package let wasCached: Bool
  package let cause: String?
  package let error: String?

  /// Its place in the cache.
  package var place: PhotoPlace { PhotoPlace(inbox: inbox, conversation: conversation, message: message) }
}

extension LedgerView {
  /// The photos named `name`, by their own id or by the message's id on its network. Several if a message has several
  /// photos or arrived in several inboxes.
  package func photos(called name: String) throws -> [PhotoStory] {
    try read { database in
      let received = try PhotoStory.fetchAll(
        database.kept(
          """
          SELECT r.message, r.inbox, c.conversation, r.state, r.own AS isOwn, r.revealed_at IS NULL AS isHidden,
            p.message IS NOT NULL AS wasCached, r.cause, r.error
          FROM received r JOIN conversations c ON c.id = r.conversation_id LEFT JOIN photos p ON p.message = r.message
          WHERE r.message = ?1 OR r.remote = ?1 ORDER BY r.id LIMIT 100
          """), arguments: [name])
      if !received.isEmpty { return received }
      return try PhotoStory.fetchAll(
        database.kept(
          """
          SELECT p.message, p.inbox, c.conversation, NULL AS state, 1 AS isOwn, 0 AS isHidden, 1 AS wasCached,
            NULL AS cause, NULL AS error
          FROM photos p JOIN conversations c ON c.id = p.conversation_id WHERE p.message = ?
          """), arguments: [name])
    }
  }
}
