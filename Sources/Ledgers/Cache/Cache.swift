import GRDB
import Messages

/// The size of the cache for one inbox, or in all. Exact: it changes with every change of a photo's row.
package struct CacheUse: Sendable, Equatable {
  /// nil for the whole cache.
  package let inbox: InboxID?
  /// Photos with originals.
  package let photos: Int
  /// Bytes of originals, thumbnails and blurred previews.
  package let bytes: Int
  /// The limit has been passed since the last warning.
  package let isWarned: Bool
}

extension Ledger {
  /// Marks a photo as the most recently viewed. Returns false if there is no such photo.
  @discardableResult
  package func viewed(_ message: MessageID, at now: Timestamp) async throws -> Bool {
    try await write { database in
      // A sent photo that returned since it was stored had been evicted; so had a received one that returned since its
      // last view.
      let isFetched: Bool? = try database.value(
        "SELECT coalesce(downloaded_at > coalesce(viewed_at, uploaded_at), 0) FROM photos WHERE message = ?",
        message.text)
      if let isFetched { try database.count(isFetched ? "views.fetched" : "views.cache", 1) }
      try database.run(
        "UPDATE photos SET viewed_at = ?, recency = ? WHERE message = ?",
        now.milliseconds, try database.nextRecency(), message.text)
      return database.changesCount > 0
    }
  }

  /// The use of the whole cache, then of every inbox with photos.
  package func cacheUse() async throws -> [CacheUse] { try await read { try $0.cacheUse() } }

  /// Notes whether a warning for an inbox, or for all, is in force.
  package func setWarned(_ isWarned: Bool, inbox: InboxID?) async throws {
    try await write { database in
      if let inbox {
        try database.run("UPDATE cache_use SET warned = ? WHERE inbox = ?", isWarned, inbox.text)
      } else {
        try database.run("UPDATE cache_total SET warned = ?", isWarned)
      }
    }
  }
}

extension LedgerView {
  /// The use of the whole cache, then of every inbox with photos.
  package func cacheUse() throws -> [CacheUse] { try read { try $0.cacheUse() } }
}

extension Database {
  /// The next number in the order of viewing, which needs no clock.
  func nextRecency() throws -> Int64 {
    try run("UPDATE cache_total SET recency = recency + 1")
    return try value("SELECT recency FROM cache_total") ?? 0
  }

  func cacheUse() throws -> [CacheUse] {
    try all(
      """
      SELECT NULL AS inbox, photos, bytes, warned FROM cache_total
      UNION ALL SELECT * FROM (
        SELECT inbox, photos, bytes, warned FROM cache_use WHERE bytes > 0 OR warned > 0 ORDER BY inbox)
      """
    ) { CacheUse(inbox: $0["inbox"], photos: $0["photos"], bytes: $0["bytes"], isWarned: $0["warned"]) }
  }
}
