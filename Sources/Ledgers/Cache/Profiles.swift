import GRDB
import Messages

/// The profile photo of an inbox, as it was last set or removed.
package struct Profile: Sendable, Equatable {
  package let inbox: InboxID
  /// The message that set it; nil when it was removed.
  package let message: MessageID?
  /// Who publishes it.
  package let network: String
  package let url: String?
  package let changedAt: Timestamp
  /// Where its files lie, relative to the spool.
  package let path: String?
}

/// The uploads of profile photos are marked with their inbox: the row of one that may be what others see stays as long
/// as no later change has taken its place, whatever becomes of its request.
extension Ledger {
  /// Photos of earlier profiles, and of changes that came to nothing, whose copies in the cache nobody needs.
  package func supersededProfilePhotos() async throws -> [CachedPhoto] {
    try await read { database in
      try Row.fetchAll(
        database,
        sql: """
          SELECT p.message, p.inbox, c.conversation FROM profiles f
            JOIN photos p ON p.conversation_id = f.conversation_id JOIN conversations c ON c.id = f.conversation_id
          WHERE p.message IS NOT f.message AND p.pinned = 0
          """
      ).map { row in
        CachedPhoto(
          inbox: InboxID(unchecked: row["inbox"]), conversation: ConversationID(unchecked: row["conversation"]),
          message: MessageID(unchecked: row["message"]))
      }
    }
  }

  /// Whether the inbox has a profile photo, or a change whose outcome is not known may have set one.
  package func mayHaveProfilePhoto(_ inbox: InboxID) async throws -> Bool {
    try await read { database in
      try Bool.fetchOne(
        database,
        sql: """
          SELECT EXISTS (SELECT 1 FROM profiles WHERE inbox = ?1 AND message IS NOT NULL)
            OR EXISTS (SELECT 1 FROM uploads WHERE profile_of = ?1 AND state IN ('offered','published'))
          """, arguments: [inbox.text]) ?? false
    }
  }

  /// Deletes the row of such a photo, whose files are gone.
  package func forgetSupersededProfilePhoto(_ photo: CachedPhoto) async throws {
    try await write { database in
      try database.execute(
        sql: """
          DELETE FROM photos WHERE message = ? AND pinned = 0
            AND message NOT IN (SELECT message FROM profiles WHERE message IS NOT NULL)
          """,
        arguments: [photo.message.text])
    }
  }
}

extension LedgerView {
  /// The profile photo of an inbox; nil when none was ever set or removed.
  package func profile(of inbox: InboxID) throws -> Profile? {
    try read { database in
      try Row.fetchOne(
        database,
        sql: "SELECT f.*, p.path FROM profiles f LEFT JOIN photos p ON p.message = f.message WHERE f.inbox = ?",
        arguments: [inbox.text]
      ).map { row in
        Profile(
          inbox: inbox, message: (row["message"] as String?).map(MessageID.init(unchecked:)), network: row["network"],
          url: row["url"], changedAt: Timestamp(milliseconds: row["changed_at"]), path: row["path"])
      }
    }
  }
}

extension Database {
  /// The change of a profile is published. In the same commit what was uploaded for earlier changes is abandoned: only
  /// from here on may it be deleted. What an earlier attempt of this change has uploaded stays, as receivers may have
  /// taken that; and what another network or place shows stays for good, since this change says nothing of it.
  func settleProfile(_ message: QueuedMessage, _ published: Published, at now: Timestamp) throws {
    let (network, place, url) = (published.network, published.profilePlace, published.attachment?.url)
    let isElsewhere = try Bool.fetchOne(
      self, sql: "SELECT network <> ? OR place IS NOT ? FROM profiles WHERE inbox = ?",
      arguments: [network, place, message.inbox.text])
    let end = isElsewhere == true ? "profile_of = NULL" : "state = 'abandoned'"
    try execute(
      sql: "UPDATE uploads SET \(end) WHERE profile_of = ? AND message <> ? AND state IN ('offered','published')",
      arguments: [message.inbox.text, message.message.text])
    let isSet = message.kind == .profile
    try execute(
      sql: """
        INSERT INTO profiles (inbox, conversation_id, message, network, place, url, changed_at)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (inbox) DO UPDATE SET conversation_id = excluded.conversation_id, message = excluded.message,
          network = excluded.network, place = excluded.place, url = excluded.url, changed_at = excluded.changed_at
        """,
      arguments: [
        message.inbox.text, message.conversationRow, isSet ? message.message.text : nil, network, place, url,
        now.milliseconds,
      ])
    // The one that was the profile may go from the cache; its request is over.
    try execute(
      sql: """
        UPDATE photos SET pinned = 0, fetchable = 0 WHERE conversation_id = ? AND message <> ? AND message NOT IN (
          SELECT message FROM messages WHERE conversation_id = ? AND \(LedgerSchema.waiting))
        """,
      arguments: [message.conversationRow, message.message.text, message.conversationRow])
  }

  /// The network has refused a change of the profile: what it was offered is nobody's.
  func withdrawProfile(_ message: QueuedMessage) throws {
    try execute(
      sql: "UPDATE uploads SET state = 'abandoned' WHERE message = ? AND state = 'offered'",
      arguments: [message.message.text])
  }
}
