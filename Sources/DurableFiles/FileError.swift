import Glibc

/// A file operation that the kernel refused.
package struct FileError: Error, Equatable, CustomStringConvertible {
  /// The verb for the sentence: `open`, `rename`, `sync`.
  package let operation: String
  /// The path or name as the caller gave it.
  package let path: String
  package let code: Int32

  package init(_ operation: String, _ path: String, code: Int32 = errno) {
    self.operation = operation
    self.path = path
    self.code = code
  }

  package var description: String {
    "cannot \(operation) \(path): \(String(cString: strerror(code)))"
  }

  /// The disk, the inodes or the quota are used up.
  package var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }
  package var isMissing: Bool { code == ENOENT }
  package var isTaken: Bool { code == EEXIST || code == ENOTEMPTY }
}
