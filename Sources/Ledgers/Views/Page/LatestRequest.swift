import GRDB
import Messages

extension LedgerView {
  /// The last request to a conversation; nil if none is remembered.
  package func latestRequest(to conversation: ConversationID) throws -> RequestStory? {
    let name: String? = try read { database in
      try database.value(
        """
        SELECT request FROM requests INDEXED BY requests_conversation
        WHERE conversation_id = (SELECT id FROM conversations WHERE conversation = ?)
        ORDER BY id DESC LIMIT 1
        """, conversation)
    }
    return try name.flatMap { try story(of: $0) }
  }
}
