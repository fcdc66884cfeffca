import Glibc

/// A file operation that the kernel refused: which, on what, and its errno.
public struct FileError: Error, Equatable, CustomStringConvertible {
  /// The verb, as the sentence has it: `open`, `rename`, `sync`.
  public let operation: String
  /// The path or name that it was about, as the caller gave it.
  public let path: String
  /// The errno.
  public let code: Int32

  public init(_ operation: String, _ path: String, code: Int32 = errno) {
    self.operation = operation
    self.path = path
    self.code = code
  }

  public var description: String {
    "cannot \(operation) \(path): \(String(cString: strerror(code)))"
  }

  /// The disk, the inodes or the quota are used up; room made later mends it.
  public var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }
  public var isMissing: Bool { code == ENOENT }
  public var isTaken: Bool { code == EEXIST || code == ENOTEMPTY }
}
