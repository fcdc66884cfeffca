import GRDB
import Messages

/// An object that was stored, or begun, and that no published message refers to.
public struct AbandonedUpload: Sendable {
  public let row: Int64
  public let message: MessageID
  public let store: String
  public let object: String
}

extension Ledger {
  /// Claims the first `limit` objects that are to be deleted from their stores. Until `forgetUpload`, no new upload of
  /// the same object begins. An object that another message refers to is not claimed: only its row goes.
  public func claimAbandonedUploads(limit: Int) async throws -> [AbandonedUpload] {
    try await write { database in
      try database.run(
        """
        DELETE FROM uploads WHERE state = 'abandoned' AND EXISTS (
          SELECT 1 FROM uploads other WHERE other.object = uploads.object AND other.store = uploads.store
            AND other.state NOT IN ('abandoned', 'deleting'))
        """)
      let uploads = try Row.fetchAll(
        database.kept("SELECT id, message, store, object FROM uploads WHERE state = 'abandoned' ORDER BY id LIMIT ?"),
        arguments: [limit]
      ).map { row in
        AbandonedUpload(
          row: row["id"], message: MessageID(unchecked: row["message"]), store: row["store"], object: row["object"])
      }
      for upload in uploads {
        try database.run(
          "UPDATE uploads SET state = 'deleting' WHERE id = ?", upload.row)
      }
      return uploads
    }
  }

  /// Whether an upload of the message was begun before whose object may still be stored.
  public func hasUpload(of message: MessageID) async throws -> Bool {
    try await ask { database in
      try Bool.fetchOne(
        database.kept("SELECT EXISTS (SELECT 1 FROM uploads WHERE message = ?)"), arguments: [message.text]) ?? false
    }
  }

  /// The object is deleted from its store.
  public func forgetUpload(_ row: Int64) async throws {
    try await write { database in
      try database.run(
        "DELETE FROM uploads WHERE id = ?", row)
    }
  }

  /// A deletion failed; the objects are abandoned as before.
  public func unclaimAbandonedUploads() async throws {
    try await write { database in
      try database.run(
        "UPDATE uploads SET state = 'abandoned' WHERE state = 'deleting'")
    }
  }

  /// The keys of these messages' uploads are gone, so that nobody can open them: those whose publishing never began are
  /// to be deleted, and what was in hand of the messages starts again.
  public func abandonUploads(of messages: [MessageID]) async throws {
    try await write { database in
      for message in messages {
        try database.run(
          "UPDATE uploads SET state = 'abandoned' WHERE message = ? AND state = 'started'", message.text)
        try database.run(
          "UPDATE messages SET state = 'pending' WHERE message = ? AND \(LedgerSchema.inHand)", message.text)
      }
    }
  }

  /// A message that was being published was surely not: what was offered of it may be deleted, and it starts again.
  public func startAgain(_ message: QueuedMessage, at now: Timestamp) async throws -> Bool {
    try await write { database in
      guard try database.move(message, to: .pending) else { return false }
      try database.run(
        "UPDATE messages SET remote = NULL WHERE id = ?", message.row)
      try database.run(
        "UPDATE uploads SET state = 'abandoned' WHERE message = ? AND state IN ('started','offered')",
        message.message.text)
      try database.endAttempt(of: message.message, at: now, cause: nil, error: "interrupted; it was not published")
      return true
    }
  }
}
