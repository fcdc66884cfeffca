import GRDB
import Messages

/// How much the cache holds of one inbox, or in all. Exact: every change of a photo's row changes it, too.
package struct CacheUse: Sendable, Equatable {
  /// Nil for the whole cache.
  package let inbox: InboxID?
  /// Photos whose originals are there.
  package let photos: Int
  /// Bytes of originals, thumbnails and blurred previews.
  package let bytes: Int
  /// It was said that the limit is passed, and it has been passed ever since.
  package let isWarned: Bool
}

extension Ledger {
  /// Seconds that a stored photo can be fetched again when nobody says otherwise.
  package static let remoteSeconds = 30.0 * 86_400

  /// Somebody has looked at a photo: it is the most recently viewed one now.
  ///
  /// - Returns: false when there is no such photo.
  @discardableResult
  package func viewed(_ message: MessageID, at now: Timestamp) async throws -> Bool {
    try await write { database in
      // One of ours that came back since it was stored, or one of others' since it was last viewed, had been evicted.
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

  /// The use of the whole cache first, then that of every inbox that has something there.
  package func cacheUse() async throws -> [CacheUse] { try await read { try $0.cacheUse() } }

  /// Writes down whether the use of an inbox, or in all, is said to be beyond its limit.
  package func setWarned(_ isWarned: Bool, inbox: InboxID?) async throws {
    try await write { database in
      if let inbox {
        try database.run(
          "UPDATE cache_use SET warned = ? WHERE inbox = ?", isWarned, inbox.text)
      } else {
        try database.run(
          "UPDATE cache_total SET warned = ?", isWarned)
      }
    }
  }
}

extension Database {
  /// The next number in the order of viewing. It needs no clock.
  func nextRecency() throws -> Int64 {
    try run(
      "UPDATE cache_total SET recency = recency + 1")
    return try value("SELECT recency FROM cache_total") ?? 0
  }

  func cacheUse() throws -> [CacheUse] {
    try Row.fetchAll(
      kept(
        """
        SELECT NULL AS inbox, photos, bytes, warned FROM cache_total
        UNION ALL SELECT * FROM (
          SELECT inbox, photos, bytes, warned FROM cache_use WHERE bytes > 0 OR warned > 0 ORDER BY inbox)
        """)
    ).map { row in
      CacheUse(
        inbox: (row["inbox"] as String?).map(InboxID.init(unchecked:)), photos: row["photos"], bytes: row["bytes"],
        isWarned: row["warned"])
    }
  }
}
