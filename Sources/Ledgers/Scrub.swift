import DurableFiles
import GRDB
import GRDBSQLite
import Glibc

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
  /// Leaves no byte of deleted rows in the ledger's files: the write-ahead log is emptied into the ledger and cut to
  /// nothing, and the room of every page that no row uses is overwritten with zeros.
  ///
  /// `secure_delete` overwrites rows where they are deleted. It does not overwrite the copies that stay in a page when
  /// SQLite moves rows between pages to keep its trees balanced (measured with 3.40.1). Those lie between a page's index
  /// of rows and its first row, where nobody reads; so that zeros can be written there while others read the ledger.
  ///
  /// Costs one look at every page. Nobody else writes meanwhile.
  public func scrub() async throws {
    try await alone { database in
      // The last transaction makes every other process forget its copies of pages.
      try database.execute(
        sql: "INSERT INTO janitor VALUES ('scrubs', '1') ON CONFLICT DO UPDATE SET value = value + 1")
      // Everybody's writes wait meanwhile.
      _ = try Row.fetchAll(database, sql: "PRAGMA busy_timeout = 500")
      defer { _ = try? Row.fetchAll(database, sql: "PRAGMA busy_timeout = 10000") }
      guard try Self.emptyLog(of: database) else { throw ScrubError.busy }
      try database.execute(sql: "PRAGMA shrink_memory")
      try PageScrubber(database).scrub()
      try database.execute(sql: "UPDATE janitor SET value = value + 1 WHERE name = 'scrubs'")
      guard try Self.emptyLog(of: database) else { throw ScrubError.busy }
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

/// Overwrites what is unused in the pages of a ledger whose write-ahead log is empty.
private struct PageScrubber {
  private let file: UnsafeMutablePointer<sqlite3_file>
  private let pageSize: Int
  private let hasPointerMaps: Bool

  /// From here on the page numbers that other kinds of pages begin with could be mistaken for a kind of tree page.
  private static let mostPages = 1 << 24
  /// The page that SQLite locks, which nobody writes to, begins here.
  private static let lockedByte = 0x4000_0000

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
    guard Int(length) / pageSize < Self.mostPages else { throw ScrubError.unreadable(SQLITE_TOOBIG) }
    // Many pages at a time: the disk is asked less often.
    let most = 256 * pageSize
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: most, alignment: 4096)
    defer { buffer.deallocate() }
    var hasChanged = false
    for start in stride(from: 0, to: Int(length), by: most) {
      let count = min(most, Int(length) - start)
      try check(read(file, buffer.baseAddress, Int32(count), sqlite3_int64(start)))
      for offset in stride(from: 0, to: count - pageSize + 1, by: pageSize) {
        let page = UnsafeMutableRawBufferPointer(rebasing: buffer[offset..<offset + pageSize])
        guard !isPointerMap((start + offset) / pageSize + 1), clear(page, isFirst: start + offset == 0) else {
          continue
        }
        hasChanged = true
        try check(write(file, page.baseAddress, Int32(pageSize), sqlite3_int64(start + offset)))
      }
    }
    if hasChanged { try check(sync(file, SQLITE_SYNC_FULL)) }
  }

  private func check(_ code: Int32) throws {
    if code != SQLITE_OK { throw ScrubError.unreadable(code) }
  }

  /// Whether a page lists who points to the pages behind it; it may begin like a page of a tree.
  private func isPointerMap(_ number: Int) -> Bool {
    guard hasPointerMaps, number >= 2 else { return false }
    let span = pageSize / 5 + 1
    let map = 2 + (number - 2) / span * span
    return number == (map == Self.lockedByte / pageSize + 1 ? map + 1 : map)
  }

  /// Clears what lies between the index of rows and the first row of a page of a tree; false when that was clear.
  private func clear(_ page: UnsafeMutableRawBufferPointer, isFirst: Bool) -> Bool {
    let header = isFirst ? 100 : 0
    func number(at offset: Int) -> Int { Int(page[offset]) << 8 | Int(page[offset + 1]) }
    let index: Int
    switch page[header] {
    case 2, 5: index = header + 12
    case 10, 13: index = header + 8
    default: return false
    }
    let rows = number(at: header + 3)
    let first = number(at: header + 5) == 0 ? 65_536 : number(at: header + 5)
    let unused = index + 2 * rows
    guard unused < first, first <= pageSize else { return false }
    for row in 0..<rows where !(first..<pageSize).contains(number(at: index + 2 * row)) { return false }
    let gap = UnsafeMutableRawBufferPointer(rebasing: page[unused..<first])
    guard let begin = gap.baseAddress else { return false }
    if gap[0] == 0 && memcmp(begin, begin + 1, gap.count - 1) == 0 { return false }
    memset(begin, 0, gap.count)
    return true
  }
}
