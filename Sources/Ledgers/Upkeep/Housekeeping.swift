import GRDB
import Messages

/// The ledger's knowledge of a message's files.
package enum CachedState: Sendable, Equatable {
  /// No photo, no waiting message and no download.
  case unknown
  /// They may be in use, or must not be touched.
  case busy
  case photo(hasOriginal: Bool, hasThumbnails: Bool)
}

/// A photo with files in the cache.
package struct CountedPhoto: Sendable {
  package let row: Int64
  package let path: String
  package let hasOriginal: Bool
  package let hasThumbnails: Bool
}

/// Housekeeping queries of the janitor.
extension Ledger {
  /// The first `limit` filed requests in `states` that ended before `before`, oldest first.
  package func filedRequests(
    in states: [RequestState], before: Timestamp, limit: Int
  ) async throws -> [RequestRow] {
    try await read { database in
      try states.flatMap { state in
        try database.all(
          RequestRow.self, "WHERE filed = 1 AND state = ? AND finished_at < ? ORDER BY finished_at LIMIT ?", state,
          before, limit)
      }
    }
  }

  /// Deletes the rows of finished requests, their messages and attempts, and of unused conversations. A request that
  /// was retried in the meantime stays.
  package func forgetFiled(_ requests: [RequestRow]) async throws {
    try await write { database in
      for request in requests {
        let isOver = "WHERE id = ? AND filed = 1 AND state IN ('sent','failed','cancelled','duplicate')"
        guard let request = try database.first(RequestRow.self, isOver, request.row) else { continue }
        let messages = "SELECT message FROM messages WHERE request_id = \(request.row)"
        try database.execute(
          sql: """
            DELETE FROM attempts WHERE message IN (\(messages));
            DELETE FROM uploads WHERE state IN ('offered','published') AND profile_of IS NULL AND sealed = 1
              AND message IN (\(messages));
            """)
        try database.run("DELETE FROM requests WHERE id = ?", request.row)
        if let conversation = request.conversationRow { try database.forgetIfUnused(conversation) }
      }
    }
  }

  /// Deletes the rows of photos without files that cannot be fetched again. Returns how many.
  package func forgetGonePhotos() async throws -> Int {
    try await writeInBatches { database in
      let photos = try database.all(
        PhotoRow.self,
        """
        WHERE cached_bytes = 0 AND cached_thumbnail_bytes = 0 AND fetchable = 0 AND pinned = 0 AND evicting = 0
        LIMIT 500
        """)
      for photo in photos { try database.run("DELETE FROM photos WHERE message = ?", photo.message) }
      for conversation in Set(photos.map(\.conversationRow)) { try database.forgetIfUnused(conversation) }
      return photos.count
    }
  }

  /// Cached photos that are not pinned, by row, after `after`.
  package func countedPhotos(after row: Int64, limit: Int) async throws -> [CountedPhoto] {
    try await read { database in
      try database.all(
        """
        SELECT rowid, path, pinned = 0 AND evicting = 0 AND cached_bytes > 0 AS o,
          pinned = 0 AND evicting = 0 AND cached_thumbnail_bytes > 0 AS t FROM photos
        WHERE rowid > ? ORDER BY rowid LIMIT ?
        """, row, limit
      ) { CountedPhoto(row: $0["rowid"], path: $0["path"], hasOriginal: $0["o"], hasThumbnails: $0["t"]) }
    }
  }

  /// Runs `look` for the files of a photo while nothing else writes, and updates the row. Returns whether a file was
  /// missing.
  package func recount(
    _ photo: CountedPhoto, look: @escaping @Sendable (_ path: String) throws -> (original: Bool, thumbnails: Bool)
  ) async throws -> Bool {
    try await write { database in
      let found = try look(photo.path)
      try database.run(
        """
        UPDATE photos SET cached_bytes = iif(?1, cached_bytes, 0),
          cached_thumbnail_bytes = iif(?2, cached_thumbnail_bytes, 0)
        WHERE rowid = ?3 AND path = ?4 AND pinned = 0 AND evicting = 0
          AND ((cached_bytes > 0 AND NOT ?1) OR (cached_thumbnail_bytes > 0 AND NOT ?2))
        """, found.original, found.thumbnails, photo.row, photo.path)
      return database.changesCount > 0
    }
  }

  package func cachedStates(of messages: [String]) async throws -> [CachedState] {
    try await read { database in try messages.map { try database.cachedState(of: $0) } }
  }

  /// Runs `remove` if the ledger still says `state` about the message, while nothing else writes.
  package func whileCached(
    _ message: String, is state: CachedState, _ remove: @escaping @Sendable () throws -> Void
  ) async throws -> Bool {
    try await write { database in
      guard try database.cachedState(of: message) == state else { return false }
      try remove()
      return true
    }
  }

  /// The notes of the last janitor run.
  package func janitorNotes() async throws -> [String: String] {
    try await read { database in
      let notes: [(String, String)] = try database.all("SELECT name, value FROM janitor") { ($0["name"], $0["value"]) }
      return Dictionary(notes) { first, _ in first }
    }
  }

  /// Stores notes for the next run, and the end of this one.
  package func setJanitorNotes(_ notes: [String: String], at now: Timestamp) async throws {
    try await write { database in
      try database.run(
        "INSERT INTO counts VALUES ('janitor_ran', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        now.milliseconds)
      for (name, value) in notes.sorted(by: { $0.key < $1.key }) {
        try database.run(
          "INSERT INTO janitor VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", name, value)
      }
    }
  }
}

extension Database {
  fileprivate func cachedState(of message: String) throws -> CachedState {
    let isWaiting =
      try exists("messages WHERE message = ? AND \(LedgerSchema.waiting)", message)
      || exists("received WHERE message = ? AND state = 'downloading'", message)
    if isWaiting { return .busy }
    guard let photo = try first(PhotoRow.self, "WHERE message = ?", message) else { return .unknown }
    if photo.isPinned || photo.evicting != 0 { return .busy }
    return .photo(hasOriginal: photo.cachedBytes > 0, hasThumbnails: photo.cachedThumbnailBytes > 0)
  }

  /// Deletes the row of an unused conversation.
  fileprivate func forgetIfUnused(_ conversation: Int64) throws {
    let tables = ["requests", "messages", "photos", "preferences", "received"]
    let isUnused = tables.map { "NOT EXISTS (SELECT 1 FROM \($0) WHERE conversation_id = conversations.id)" }
    try run(
      """
      DELETE FROM conversations WHERE id = ? AND waiting = 0 AND held = 0 AND purged = 0 AND known = 0
        AND \(isUnused.joined(separator: " AND "))
      """, conversation)
  }
}
