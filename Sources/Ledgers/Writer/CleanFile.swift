import GRDB
import GRDBSQLite
import Synchronization

/// Makes SQLite write pages into the ledger's file without remains of moved or deleted rows.
///
/// Pages reach the file when the write-ahead log is copied into it. Their unused space is written as zeros, so the file
/// holds no copy of a deleted row. The log does, and a purge truncates it. A purge thus costs nothing for pages that
/// stay.
///
/// This replaces the write method of the file: SQLite looks methods up in a table for each call.
enum CleanFile {
  /// Our method tables, by the original ones. They live as long as the process, as SQLite's do.
  private static let tables = Mutex<[UInt: UInt]>([:])

  /// The offset of the original table's address in ours, after the methods.
  fileprivate static let originalOffset = MemoryLayout<sqlite3_io_methods>.stride

  /// Enables clean pages on this connection.
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

/// The write method, with SQLite's signature.
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
  // Partial pages are written unchanged.
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
