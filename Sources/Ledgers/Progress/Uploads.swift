import FoundationEssentials
import GRDB
import Messages

/// A stored or begun object that no published message uses.
package struct AbandonedUpload: Sendable {
  package let row: Int64
  package let message: MessageID
  package let store: String
  package let object: String
}

extension Ledger {
  /// Claims the first `limit` objects to delete from their stores. No new upload of the same object begins until
  /// `forgetUpload`. An object that another message uses is not claimed; only its row is deleted.
  ///
  /// - Parameters:
  ///   - exceptRows: uploads to skip.
  ///   - exceptStores: stores to skip.
  package func claimAbandonedUploads(
    limit: Int, exceptRows: Set<Int64> = [], exceptStores: Set<String> = []
  ) async throws -> [AbandonedUpload] {
    let rows = "[\(exceptRows.map(String.init).joined(separator: ","))]"
    let stores = String(decoding: try json(exceptStores), as: UTF8.self)
    return try await write { database in
      try database.run(
        """
        DELETE FROM uploads WHERE state = 'abandoned' AND EXISTS (
          SELECT 1 FROM uploads other WHERE other.object = uploads.object AND other.store = uploads.store
            AND other.state NOT IN ('abandoned', 'deleting'))
        """)
      let uploads = try database.all(
        """
        SELECT id, message, store, object FROM uploads WHERE state = 'abandoned'
          AND id NOT IN (SELECT value FROM json_each(?)) AND store NOT IN (SELECT value FROM json_each(?))
        ORDER BY id LIMIT ?
        """, rows, stores, limit
      ) { AbandonedUpload(row: $0["id"], message: $0["message"], store: $0["store"], object: $0["object"]) }
      for upload in uploads {
        try database.run("UPDATE uploads SET state = 'deleting' WHERE id = ?", upload.row)
      }
      return uploads
    }
  }

  /// Whether an earlier upload of the message may still be stored.
  package func hasUpload(of message: MessageID) async throws -> Bool {
    try await ask { try $0.exists("uploads WHERE message = ?", message) }
  }

  /// Records that the object is deleted from its store.
  package func forgetUpload(_ row: Int64) async throws {
    try await write { try $0.run("DELETE FROM uploads WHERE id = ?", row) }
  }

  /// Returns an object to the abandoned ones after a failed deletion.
  package func unclaimAbandonedUpload(_ row: Int64) async throws {
    try await write { try $0.run("UPDATE uploads SET state = 'abandoned' WHERE id = ? AND state = 'deleting'", row) }
  }

  /// Returns all objects to the abandoned ones after interrupted deletions.
  package func unclaimAbandonedUploads() async throws {
    try await write { try $0.run("UPDATE uploads SET state = 'abandoned' WHERE state = 'deleting'") }
  }

  /// Abandons uploads of these messages, whose keys are lost. Those whose publishing never began are to be deleted, and
  /// the messages start again.
  package func abandonUploads(of messages: [MessageID]) async throws {
    try await write { database in
      for message in messages {
        try database.run("UPDATE uploads SET state = 'abandoned' WHERE message = ? AND state = 'started'", message.text)
        try database.run(
          "UPDATE messages SET state = 'pending' WHERE message = ? AND \(LedgerSchema.inHand)", message.text)
      }
    }
  }

  /// Starts a message again that was certainly not published. Its upload may be deleted.
  package func startAgain(_ message: QueuedMessage, at now: Timestamp) async throws -> Bool {
    try await write { database in
      guard try database.move(message, to: .pending) else { return false }
      try database.run("UPDATE messages SET remote = NULL, offered_to = NULL WHERE id = ?", message.row)
      try database.run(
        "UPDATE uploads SET state = 'abandoned' WHERE message = ? AND state IN ('started','offered')",
        message.message.text)
      try database.endAttempt(of: message.message, at: now, cause: nil, error: "interrupted; it was not published")
      return true
    }
  }

  /// Abandons objects of photos that the `local` network published and nobody can open any more. An object that is not
  /// sealed may belong to another message, too; after a rebuild the ledger cannot know, so it stays.
  package func abandonPublished(
    _ objects: [(message: MessageID, store: String, object: String, isSealed: Bool)]
  ) async throws {
    if objects.isEmpty { return }
    try await write { database in
      let isRebuilt = try database.exists("janitor WHERE name = ?", LedgerSchema.rebuilt)
      for object in objects where object.isSealed || !isRebuilt {
        try database.run(
          """
          UPDATE uploads SET state = 'abandoned', message = '' WHERE message = ? AND store = ? AND object = ?
            AND (state = 'offered' OR state = 'published')
          """,
          object.message.text, object.store, object.object)
        guard object.isSealed else { continue }
        // Its row was deleted with its request.
        if try database.exists("uploads WHERE object = ? AND store = ?", object.object, object.store) { continue }
        try database.insertUpload(
          of: "", to: object.store, as: object.object, "abandoned", at: Timestamp(milliseconds: 0))
      }
    }
  }
}

extension Database {
  func insertUpload(
    of message: String, to store: String, as object: String, _ state: String, at now: Timestamp,
    profileOf inbox: InboxID? = nil, isSealed: Bool = false
  ) throws {
    try run(
      """
      INSERT INTO uploads (message, store, object, state, started_at, profile_of, sealed) VALUES (?, ?, ?, ?, ?, ?, ?)
      """, message, store, object, state, now, inbox, isSealed)
  }
}
