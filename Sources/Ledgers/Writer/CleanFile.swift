import GRDB
import GRDBSQLite
import Synchronization

/// Has SQLite write its pages into the ledger's file without remains of rows that were moved or deleted.
///
/// A page comes into the file when the write-ahead log is emptied into it. What nobody reads in it is written as zeros, so
/// that a file which was only written like this holds no copy of a row that is not there. The log holds such copies, and
/// is cut to nothing by a purge: so that a purge costs nothing for the pages that stay.
///
/// It is one method of the file, put before SQLite's own: SQLite looks its methods up in a table whenever it calls one.
enum CleanFile {
  /// Tables of methods, by those that they stand in for. They live as long as the process, as SQLite's own do.
  private static let tables = Mutex<[UInt: UInt]>([:])

  /// Where a table of ours holds the address of SQLite's own: behind the methods.
  fileprivate static let originalOffset = MemoryLayout<sqlite3_io_methods>.stride

  /// From here on this connection writes clean pages.
  static func keep(by database: Database) throws {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    guard code == SQLITE_OK, let file, let methods = file.pointee.pMethods else {
      throw LedgerError.notDurable("SQLite does not show its file (code \(code)), so that a purge would leave traces")
    }
    let original = UInt(bitPattern: methods)
    let table = tables.withLock { tables in
      if tables.values.contains(original) { return original }
      if let table = tables[original] { return table }
      let table = UnsafeMutableRawPointer.allocate(byteCount: originalOffset + 8, alignment: 16)
      var ours = methods.pointee
      ours.xWrite = writeClean
      table.storeBytes(of: ours, as: sqlite3_io_methods.self)
      table.storeBytes(of: original, toByteOffset: originalOffset, as: UInt.self)
      tables[original] = UInt(bitPattern: table)
      return UInt(bitPattern: table)
    }
    file.pointee.pMethods = UnsafePointer(bitPattern: table)
  }
}

/// SQLite's method for writing, as its table of methods wants it.
private func writeClean(
  _ file: UnsafeMutablePointer<sqlite3_file>?, _ bytes: UnsafeRawPointer?, _ count: Int32, _ offset: sqlite3_int64
) -> Int32 {
  guard let file, let bytes, let table = UnsafeRawPointer(file.pointee.pMethods),
    let methods = UnsafePointer<sqlite3_io_methods>(
      bitPattern: table.load(fromByteOffset: CleanFile.originalOffset, as: UInt.self)),
    let write = methods.pointee.xWrite, let read = methods.pointee.xRead
  else { return SQLITE_IOERR }
  let page = UnsafeRawBufferPointer(start: bytes, count: Int(count))
  let number = Int(offset) / max(page.count, 1) + 1
  // Whatever is no whole page is written as it is.
  guard page.count >= 512, page.count & (page.count - 1) == 0, Int(offset) % page.count == 0,
    number < PageRemains.mostPages, let remains = PageRemains.range(in: page, isFirst: offset == 0)
  else { return write(file, bytes, count, offset) }
  if PageRemains.isPointerMap(number, pageSize: page.count) {
    var field: UInt32 = 0
    let code = read(file, &field, 4, sqlite3_int64(PageRemains.pointerMapField.lowerBound))
    if code != SQLITE_OK || field != 0 { return write(file, bytes, count, offset) }
  }
  return withUnsafeTemporaryAllocation(byteCount: page.count, alignment: 16) { copy in
    copy.copyMemory(from: page)
    UnsafeMutableRawBufferPointer(rebasing: copy[remains]).initializeMemory(as: UInt8.self, repeating: 0)
    return write(file, copy.baseAddress, count, offset)
  }
}
