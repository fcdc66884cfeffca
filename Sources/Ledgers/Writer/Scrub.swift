import DurableFiles
import GRDB

/// Why deleted rows may still be legible.
package enum ScrubError: Error, CustomStringConvertible {
  case busy
  case tooLarge

  package var description: String {
    switch self {
    case .busy:
      "a program has been reading the ledger for long, so that what was deleted there cannot be overwritten yet"
    case .tooLarge: "the ledger has more pages than are written clean; remove what is old with `photospool janitor`"
    }
  }
}

extension Ledger {
  /// Leaves no byte of deleted rows in the ledger's files: the write-ahead log is emptied into the ledger, whose pages
  /// are written clean (`CleanFile`), and cut to nothing. Costs what was written since the log was emptied last. Nobody
  /// else writes meanwhile. The tables of an earlier program, whose pages were not always written clean, were made anew
  /// (`Upgrade`).
  package func scrub() async throws {
    try await alone { database in
      // Its commit makes every other process forget its copies of pages, in which remains would come back.
      try database.execute(
        sql: "INSERT INTO janitor VALUES ('scrubs', '1') ON CONFLICT DO UPDATE SET value = value + 1")
      guard try database.waiting(milliseconds: 500, Self.emptyLog) else { throw ScrubError.busy }
      try database.execute(sql: "PRAGMA shrink_memory")
      guard try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0 < PageRemains.mostPages else {
        throw ScrubError.tooLarge
      }
    }
  }

  /// Gives the room of deleted rows back to the disk, and empties the write-ahead log unless somebody reads there.
  package func tidy() async throws {
    try await alone { database in
      // Each step of it moves one page.
      _ = try Row.fetchAll(database, sql: "PRAGMA incremental_vacuum(1024)")
      _ = try database.checkpoint(.passive)
    }
  }

  /// False when somebody reads there.
  private static func emptyLog(of database: Database) throws -> Bool {
    do {
      return try database.checkpoint(.truncate).walFrameCount <= 0
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      return false
    }
  }
}

extension Database {
  /// Runs `body` and waits in it for those who read, but not for long, as everybody's writes wait meanwhile.
  func waiting<Answer>(milliseconds: Int, _ body: (Database) throws -> Answer) throws -> Answer {
    _ = try Row.fetchAll(self, sql: "PRAGMA busy_timeout = \(milliseconds)")
    defer { _ = try? Row.fetchAll(self, sql: "PRAGMA busy_timeout = \(Int(Ledger.patience * 1000))") }
    return try body(self)
  }
}
