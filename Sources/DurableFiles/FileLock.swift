import Glibc

/// A kernel lock (flock) on a file that is never deleted. It ends with its process.
package final class FileLock: Sendable {
  private let file: File

  /// Opens or makes the lock file `name` without locking it.
  package init(_ name: String, in directory: Directory, mode: mode_t = 0o600) throws(FileError) {
    file = try directory.file(appendingTo: name, mode: mode)
  }

  package func acquire() throws(FileError) {
    while flock(file.descriptor, LOCK_EX) != 0 {
      if errno != EINTR { throw FileError("lock", file.path) }
    }
  }

  /// Takes the lock if it is free; false if another process holds it.
  package func tryAcquire() throws(FileError) -> Bool { try tryFlock(file.descriptor, file.path) }

  package func release() { flock(file.descriptor, LOCK_UN) }

  package func whileHeld<Result>(_ body: () throws -> Result) throws -> Result {
    try acquire()
    defer { release() }
    return try body()
  }

  /// Overwrites the lock file's contents, such as its holder or a counter.
  package func write(note: String) throws(FileError) {
    try file.truncate(to: 0)
    try file.write(Array(note.utf8))
  }

  /// The contents from `write(note:)`.
  package func note() throws(FileError) -> String {
    String(decoding: try file.bytes(from: 0, count: 256), as: UTF8.self)
  }
}

/// Takes the kernel's lock if it is free.
func tryFlock(_ descriptor: Int32, _ path: String) throws(FileError) -> Bool {
  while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
    if errno == EWOULDBLOCK { return false }
    if errno != EINTR { throw FileError("lock", path) }
  }
  return true
}
