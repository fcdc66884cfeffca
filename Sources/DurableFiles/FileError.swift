import Glibc

/// A file operation that the kernel refused: which, on what, and its errno.
package struct FileError: Error, Equatable, CustomStringConvertible {
  /// The verb, as the sentence has it: `open`, `rename`, `sync`.
  package let operation: String
  /// The path or name that it was about, as the caller gave it.
  package let path: String
  /// The errno.
  package let code: Int32

  package init(_ operation: String, _ path: String, code: Int32 = errno) {
    self.operation = operation
    self.path = path
    self.code = code
  }

  package var description: String {
    "cannot \(operation) \(path): \(String(cString: strerror(code)))"
  }

  /// The disk, the inodes or the quota are used up; room made later mends it.
  package var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }
  package var isMissing: Bool { code == ENOENT }
  package var isTaken: Bool { code == EEXIST || code == ENOTEMPTY }
}
