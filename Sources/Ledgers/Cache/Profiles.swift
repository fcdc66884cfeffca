import GRDB
import Messages

/// The last state of an inbox's profile photo.
package struct Profile: Decodable, Sendable, Equatable, FetchableRecord {
  package let inbox: InboxID
  /// nil if it was removed.
  package let message: MessageID?
  /// The network that publishes it.
  package let network: String
  package let url: String?
  package let changedAt: Timestamp
  /// The directory of its files, relative to the spool.
  package let path: String?
}

/// Uploads of profile photos are marked with their inbox. The row of one that others may see stays until a later change
/// replaces it, even if its request is gone.
extension Ledger {
  /// Cached copies of former profile photos and of failed changes.
  package func supersededProfilePhotos() async throws -> [PhotoPlace] {
    try await read { database in
      try database.all(
        """
        SELECT p.message, p.inbox, c.conversation FROM profiles f
          JOIN photos p ON p.conversation_id = f.conversation_id JOIN conversations c ON c.id = f.conversation_id
        WHERE p.message IS NOT f.message AND p.pinned = 0
        """
      ) { PhotoPlace(inbox: $0["inbox"], conversation: $0["conversation"], message: $0["message"]) }
    }
  }

  /// Whether the inbox has a profile photo, or may have one after a change with unknown outcome.
  package func mayHaveProfilePhoto(_ inbox: InboxID) async throws -> Bool {
    try await read { database in
      try database.exists("profiles WHERE inbox = ? AND message IS NOT NULL", inbox)
        || database.exists("uploads WHERE profile_of = ? AND state IN ('offered','published')", inbox)
    }
  }

  /// Deletes the row of such a photo after its files.
  package func forgetSupersededProfilePhoto(_ photo: PhotoPlace) async throws {
    try await write { database in
      try database.run(
        """
        DELETE FROM photos WHERE message = ? AND pinned = 0
          AND message NOT IN (SELECT message FROM profiles WHERE message IS NOT NULL)
        """, photo.message.text)
    }
  }
}

extension LedgerView {
  /// The profile photo of an inbox; nil if none was ever set or removed.
  package func profile(of inbox: InboxID) throws -> Profile? {
    try read { database in
      try Profile.fetchOne(
        database.kept(
          """
          SELECT f.*, f.changed_at AS changedAt, p.path
          FROM profiles f LEFT JOIN photos p ON p.message = f.message WHERE f.inbox = ?
          """), arguments: [inbox.text])
    }
  }
}

extension Database {
  /// Records a published change. The same commit abandons the uploads of earlier changes, which may be deleted only
  /// from here on. Uploads of earlier attempts of this change stay, because receivers may have them. Photos on another
  /// network or in another group stay, until a later change there.
  func settleProfile(_ message: QueuedMessage, _ published: Published, at now: Timestamp) throws {
    try run(
      """
      UPDATE uploads SET state = 'abandoned'
      WHERE profile_of = ? AND message <> ? AND state IN ('offered','published')
        AND offered_to IS (SELECT offered_to FROM messages WHERE message = ?)
      """, message.inbox, message.message, message.message)
    let isSet = message.kind == .profile
    try run(
      """
      INSERT INTO profiles (inbox, conversation_id, message, network, url, changed_at) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (inbox) DO UPDATE SET conversation_id = excluded.conversation_id, message = excluded.message,
        network = excluded.network, url = excluded.url, changed_at = excluded.changed_at
      """, message.inbox, message.conversationRow, isSet ? message.message : nil, published.network,
      published.attachment?.url, now)
    // The former profile photo may leave the cache; its request is over.
    try run(
      """
      UPDATE photos SET pinned = 0, fetchable = 0 WHERE conversation_id = ? AND message <> ? AND message NOT IN (
        SELECT message FROM messages WHERE conversation_id = ? AND \(LedgerSchema.waiting))
      """, message.conversationRow, message.message.text, message.conversationRow)
  }

  /// Abandons the uploads of a change that the network refused.
  func withdrawProfile(_ message: QueuedMessage) throws {
    try run("UPDATE uploads SET state = 'abandoned' WHERE message = ? AND state = 'offered'", message.message.text)
  }
}
