import DurableFiles
import GRDB
import GRDBSQLite

/// Why deleted rows may still be legible.
public enum ScrubError: Error, CustomStringConvertible {
  case busy
  case unreadable(Int32)

  public var description: String {
    switch self {
    case .busy:
      "a program has been reading the ledger for long, so that what was deleted there cannot be overwritten yet"
    case .unreadable(let code): "the ledger's file cannot be scrubbed (SQLite's code \(code))"
    }
  }
}

extension Ledger {
  /// Leaves no byte of deleted rows in the ledger's files: the write-ahead log is emptied into the ledger, whose pages are
  /// written clean (`CleanFile`), and cut to nothing.
  ///
  /// Costs what was written since the log was emptied last. A ledger of former versions, whose pages were not always
  /// written clean, is looked through once. Nobody else writes meanwhile.
  public func scrub() async throws {
    try await alone { database in
      // Its commit makes every other process forget its copies of pages, in which remains would come back.
      try database.execute(
        sql: "INSERT INTO janitor VALUES ('scrubs', '1') ON CONFLICT DO UPDATE SET value = value + 1")
      guard try database.waiting(milliseconds: 500, Self.emptyLog) else { throw ScrubError.busy }
      try database.execute(sql: "PRAGMA shrink_memory")
      guard try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0 < PageRemains.mostPages else {
        throw ScrubError.unreadable(SQLITE_TOOBIG)
      }
      guard try database.hasRemains() else { return }
      try PageScrubber(database).scrub()
      try database.execute(sql: "DELETE FROM janitor WHERE name = '\(LedgerSchema.remains)'")
      guard try database.waiting(milliseconds: 500, Self.emptyLog) else { throw ScrubError.busy }
      try database.execute(sql: "PRAGMA shrink_memory")
    }
  }

  /// Gives the room of deleted rows back to the disk, and empties the write-ahead log unless somebody reads there.
  public func tidy() async throws {
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

  /// Whether pages were written with remains by a former version.
  fileprivate func hasRemains() throws -> Bool {
    try Bool.fetchOne(self, sql: "SELECT EXISTS (SELECT 1 FROM janitor WHERE name = '\(LedgerSchema.remains)')") ?? true
  }
}

/// Overwrites what nobody reads in the pages of a ledger whose write-ahead log is empty. Others may read meanwhile.
private struct PageScrubber {
  private let file: UnsafeMutablePointer<sqlite3_file>
  private let pageSize: Int
  private let hasPointerMaps: Bool

  init(_ database: Database) throws {
    var file: UnsafeMutablePointer<sqlite3_file>?
    // SQLite's own descriptor: closing another one of the same file would give up its locks.
    let code = sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    guard code == SQLITE_OK, let file else { throw ScrubError.unreadable(code) }
    self.file = file
    pageSize = try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 4096
    hasPointerMaps = try Int.fetchOne(database, sql: "PRAGMA auto_vacuum") != 0
  }

  func scrub() throws {
    guard let methods = file.pointee.pMethods?.pointee, let size = methods.xFileSize, let read = methods.xRead,
      let write = methods.xWrite, let sync = methods.xSync
    else { throw ScrubError.unreadable(SQLITE_ERROR) }
    var length: sqlite3_int64 = 0
    try check(size(file, &length))
    // Many pages at a time: the disk is asked less often.
    let most = 256 * pageSize
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: most, alignment: 4096)
    defer { buffer.deallocate() }
    for start in stride(from: 0, to: Int(length), by: most) {
      let count = min(most, Int(length) - start)
      try check(read(file, buffer.baseAddress, Int32(count), sqlite3_int64(start)))
      for offset in stride(from: 0, to: count - pageSize + 1, by: pageSize) {
        let number = (start + offset) / pageSize + 1
        let page = UnsafeMutableRawBufferPointer(rebasing: buffer[offset..<offset + pageSize])
        guard !(hasPointerMaps && PageRemains.isPointerMap(number, pageSize: pageSize)),
          let remains = PageRemains.range(in: UnsafeRawBufferPointer(page), isFirst: number == 1)
        else { continue }
        UnsafeMutableRawBufferPointer(rebasing: page[remains]).initializeMemory(as: UInt8.self, repeating: 0)
        try check(write(file, page.baseAddress, Int32(pageSize), sqlite3_int64(start + offset)))
      }
    }
    try check(sync(file, SQLITE_SYNC_FULL))
  }

  private func check(_ code: Int32) throws {
    if code != SQLITE_OK { throw ScrubError.unreadable(code) }
  }
}
