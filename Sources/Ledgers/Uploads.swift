import GRDB
import Messages

/// An object that was stored, or begun, and that no published message refers to.
public struct AbandonedUpload: Sendable {
  public let row: Int64
  public let store: String
  public let object: String
}

extension Ledger {
  /// The first `limit` objects that are to be deleted from their stores.
  public func abandonedUploads(limit: Int) async throws -> [AbandonedUpload] {
    try await read { database in
      try Row.fetchAll(
        database, sql: "SELECT id, store, object FROM uploads WHERE state = 'abandoned' ORDER BY id LIMIT ?",
        arguments: [limit]
      ).map { AbandonedUpload(row: $0["id"], store: $0["store"], object: $0["object"]) }
    }
  }

  /// The object is deleted from its store.
  public func forgetUpload(_ row: Int64) async throws {
    try await write { database in
      try database.execute(sql: "DELETE FROM uploads WHERE id = ?", arguments: [row])
    }
  }

  /// The keys of a message's upload are gone, so nobody can open it: it is to be deleted, unless it may be published.
  public func abandonUploads(of message: MessageID) async throws {
    try await write { try $0.abandonUploads(of: message) }
  }

  /// A message that was being published was surely not: what was offered of it may be deleted, and it starts again.
  public func startAgain(_ message: QueuedMessage, at now: Timestamp) async throws -> Bool {
    try await write { database in
      guard try database.move(message, to: .pending) else { return false }
      try database.execute(
        sql: "UPDATE uploads SET state = 'abandoned' WHERE message = ? AND state IN ('started','offered')",
        arguments: [message.message.text])
      try database.endAttempt(of: message.message, at: now, cause: nil, error: "interrupted; it was not published")
      return true
    }
  }
}
