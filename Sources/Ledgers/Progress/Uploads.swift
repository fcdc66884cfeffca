import FoundationEssentials
import GRDB
import Messages

/// An object that was stored, or begun, and that no published message refers to.
package struct AbandonedUpload: Sendable {
  package let row: Int64
  package let message: MessageID
  package let store: String
  package let object: String
}

/// A photo's object that the `local` network has published.
package struct PublishedObject: Sendable {
  package let message: MessageID
  package let store: String
  package let object: String
  /// No other message has the same bytes.
  package let isSealed: Bool

  package init(message: MessageID, store: String, object: String, isSealed: Bool) {
    self.message = message
    self.store = store
    self.object = object
    self.isSealed = isSealed
  }
}

extension Ledger {
  /// Claims the first `limit` objects that are to be deleted from their stores. Until `forgetUpload`, no new upload of
  /// the same object begins. An object that another message refers to is not claimed: only its row goes.
  ///
  /// - Parameters:
  ///   - exceptRows: uploads that are left alone.
  ///   - exceptStores: stores that are left alone.
  package func claimAbandonedUploads(
    limit: Int, exceptRows: Set<Int64> = [], exceptStores: Set<String> = []
  ) async throws -> [AbandonedUpload] {
    let rows = "[\(exceptRows.map(String.init).joined(separator: ","))]"
    let stores = String(decoding: try JSONEncoder().encode(exceptStores), as: UTF8.self)
    return try await write { database in
      try database.run(
        """
        DELETE FROM uploads WHERE state = 'abandoned' AND EXISTS (
          SELECT 1 FROM uploads other WHERE other.object = uploads.object AND other.store = uploads.store
            AND other.state NOT IN ('abandoned', 'deleting'))
        """)
      let uploads = try Row.fetchAll(
        database.kept(
          """
          SELECT id, message, store, object FROM uploads WHERE state = 'abandoned'
            AND id NOT IN (SELECT value FROM json_each(?)) AND store NOT IN (SELECT value FROM json_each(?))
          ORDER BY id LIMIT ?
          """),
        arguments: [rows, stores, limit]
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
  package func hasUpload(of message: MessageID) async throws -> Bool {
    try await ask { database in
      try Bool.fetchOne(
        database.kept("SELECT EXISTS (SELECT 1 FROM uploads WHERE message = ?)"), arguments: [message.text]) ?? false
    }
  }

  /// The object is deleted from its store.
  package func forgetUpload(_ row: Int64) async throws {
    try await write { database in
      try database.run(
        "DELETE FROM uploads WHERE id = ?", row)
    }
  }

  /// A deletion failed; the object is abandoned as before.
  package func unclaimAbandonedUpload(_ row: Int64) async throws {
    try await write { database in
      try database.run("UPDATE uploads SET state = 'abandoned' WHERE id = ? AND state = 'deleting'", row)
    }
  }

  /// Deletions were cut off; all their objects are abandoned as before.
  package func unclaimAbandonedUploads() async throws {
    try await write { database in
      try database.run(
        "UPDATE uploads SET state = 'abandoned' WHERE state = 'deleting'")
    }
  }

  /// The keys of these messages' uploads are gone, so that nobody can open them: those whose publishing never began are
  /// to be deleted, and what was in hand of the messages starts again.
  package func abandonUploads(of messages: [MessageID]) async throws {
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
  package func startAgain(_ message: QueuedMessage, at now: Timestamp) async throws -> Bool {
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

  /// Nobody can open these objects any more: they are to be deleted, in the name of no message. One that is not sealed may be
  /// another message's, too: it stays unless the ledger knows of whom it is, which it does not once it was rebuilt.
  package func abandonPublished(_ objects: [PublishedObject]) async throws {
    if objects.isEmpty { return }
    try await write { database in
      let rebuilt: String? = try database.value("SELECT value FROM janitor WHERE name = ?", LedgerSchema.rebuilt)
      for object in objects where object.isSealed || rebuilt == nil {
        try database.run(
          """
          UPDATE uploads SET state = 'abandoned', message = '' WHERE message = ? AND store = ? AND object = ?
            AND (state = 'offered' OR state = 'published')
          """,
          object.message.text, object.store, object.object)
        guard object.isSealed else { continue }
        // Its own row was forgotten with its request.
        try database.run(
          """
          INSERT INTO uploads (message, store, object, state, started_at) SELECT '', ?1, ?2, 'abandoned', 0
            WHERE NOT EXISTS (SELECT 1 FROM uploads WHERE object = ?2 AND store = ?1)
          """,
          object.store, object.object)
      }
    }
  }
}
