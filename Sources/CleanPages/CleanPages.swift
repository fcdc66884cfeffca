import CSQLite
import GRDB
import GRDBSQLite

/// SQLite files whose pages hold no remains of rows that were moved or deleted (`zeroing.c`).
package enum CleanPages {
  package static let vfs = CSQLITE_VFS

  /// Runs once.
  private static let setUp = csqlite_set_up()

  /// The URI by which GRDB opens the file at `path` in that way. Nothing may have asked SQLite for anything before the
  /// first call.
  package static func uri(of path: String) throws -> String {
    guard setUp == SQLITE_OK else {
      throw DatabaseError(resultCode: ResultCode(rawValue: setUp), message: "SQLite takes no VFS of ours")
    }
    let encoded = path.replacing("%", with: "%25").replacing("?", with: "%3F").replacing("#", with: "%23")
    return "file:\(path.hasPrefix("/") ? "//" : "")\(encoded)?vfs=\(vfs)"
  }
}

extension Database {
  /// The name of the VFS of the main file.
  package var vfs: String? {
    var vfs: UnsafeMutablePointer<sqlite3_vfs>?
    sqlite3_file_control(sqliteConnection, "main", SQLITE_FCNTL_VFS_POINTER, &vfs)
    return vfs?.pointee.zName.map { String(cString: $0) }
  }
}
