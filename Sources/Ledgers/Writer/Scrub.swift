import CSQLite
import GRDB

/// Why deleted rows may still be legible.
package enum ScrubError: Error, CustomStringConvertible {
  case busy
  case tooLarge

  package var description: String {
    switch self {
    case .busy:
      "a program has been reading the ledger for long, so deleted data cannot be overwritten yet; end that program"
    case .tooLarge: "the ledger is too large to overwrite deleted data; remove old rows with `photospool janitor`"
    }
  }
}

extension Ledger {
  /// Removes all bytes of deleted rows from the ledger's files: copies the write-ahead log into the ledger, whose pages
  /// are written clean (`zeroing.c`), and truncates it. The cost depends on the writes since the last time; nothing
  /// else writes meanwhile. Tables of earlier versions, whose pages were not always clean, were copied (`Upgrade`).
  package func scrub() async throws {
    try await alone { database in
      // Its commit invalidates the cached pages of other processes, which may contain remains.
      try database.execute(
        sql: "INSERT INTO janitor VALUES ('scrubs', '1') ON CONFLICT DO UPDATE SET value = value + 1")
      guard try database.waiting(milliseconds: 500, Self.emptyLog) else { throw ScrubError.busy }
      try database.execute(sql: "PRAGMA shrink_memory")
      guard try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0 < CSQLITE_MOST_PAGES else {
        throw ScrubError.tooLarge
      }
    }
  }

  /// Returns the space of deleted rows to the disk, and empties the write-ahead log unless somebody reads it.
  package func tidy() async throws {
    try await alone { database in
      // Each step moves one page.
      _ = try Row.fetchAll(database, sql: "PRAGMA incremental_vacuum(1024)")
      _ = try database.checkpoint(.passive)
    }
  }

  /// False if somebody reads it.
  private static func emptyLog(of database: Database) throws -> Bool {
    do {
      return try database.checkpoint(.truncate).walFrameCount <= 0
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      return false
    }
  }
}

extension Database {
  /// Runs `body` with a short wait for readers, because all writes wait meanwhile.
  func waiting<Answer>(milliseconds: Int, _ body: (Database) throws -> Answer) throws -> Answer {
    _ = try Row.fetchAll(self, sql: "PRAGMA busy_timeout = \(milliseconds)")
    defer { _ = try? Row.fetchAll(self, sql: "PRAGMA busy_timeout = \(Int(Ledger.patience * 1000))") }
    return try body(self)
  }
}
