import GRDB
import Messages

extension Ledger {
  package func hasPhoto(of message: MessageID) async throws -> Bool {
    try await read { try $0.exists("photos WHERE message = ?", message) }
  }

  /// Deletes the row of a photo that was never sent. Returns the place of its files, for the caller to delete; nil if
  /// there is no such photo.
  package func forgetPhoto(of message: MessageID) async throws -> PhotoPlace? {
    try await write { database in
      let photo = try database.first(
        """
        SELECT p.inbox, c.conversation FROM photos p JOIN conversations c ON c.id = p.conversation_id
        WHERE p.message = ? AND p.uploaded_at IS NULL
        """, message
      ) { PhotoPlace(inbox: $0["inbox"], conversation: $0["conversation"], message: message) }
      if photo != nil { try database.run("DELETE FROM photos WHERE message = ?", message) }
      return photo
    }
  }
}

extension Database {
  /// Keeps a prepared photo in the cache until its request is over, or while it is the profile photo.
  func pin(_ message: MessageID) throws {
    try run("UPDATE photos SET pinned = 1 WHERE message = ? AND pinned = 0", message.text)
  }
}
