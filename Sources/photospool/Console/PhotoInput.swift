import Composition
import DurableFiles
import Glibc
import Spooling

extension File {
  /// Opens a photo from the command line, which must not be empty. Standard input (`-`), a pipe or a device is read to
  /// its end, or until it is too large.
  convenience init(photo path: String) throws {
    var status = stat()
    let isThere = path != "-" && stat(path, &status) == 0
    if isThere && status.st_mode & S_IFMT == S_IFDIR {
      throw Failure(.badData, "\(path) is a directory; name the photos in it, for example with \(path)/*.jpg")
    }
    if path == "-" || isThere && status.st_mode & S_IFMT != S_IFREG {
      try self.init(readingStream: path, limit: RequestLimits.photoBytes)
    } else {
      try self.init(reading: path)
    }
    if try entry().size == 0 { throw Failure(.badData, "\(self.path) is empty; give a photo") }
  }
}

extension IdempotencyKey {
  init(argument text: String) throws {
    guard let key = IdempotencyKey(text) else {
      throw Failure(.badData, "the id is not 1 to 128 of A-Za-z0-9._-; give one that is")
    }
    self = key
  }
}
