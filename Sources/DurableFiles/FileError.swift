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
  /// The machine has run out of something; the request is not to blame.
  package var isPassing: Bool { [EMFILE, ENFILE, ENOMEM].contains(code) }
  /// Its owner does not permit it; others are not affected.
  package var isForbidden: Bool { code == EACCES || code == EPERM }
  /// The disk or its server failed; the request may be valid.
  package var isOfDisk: Bool { [EIO, ESTALE, EINTR, ETIMEDOUT, ENODATA, EUCLEAN].contains(code) }
}
