import Glibc

/// A kernel lock (flock) on a file that is never deleted. The kernel releases it when its holder dies.
package final class FileLock: Sendable {
  private let file: File

  /// Opens, and makes when missing, the lock file `name`; takes no lock yet.
  package init(_ name: String, in directory: Directory, mode: mode_t = 0o600) throws(FileError) {
    file = try directory.file(appendingTo: name, mode: mode)
  }

  /// Waits for the lock.
  package func acquire() throws(FileError) {
    while flock(file.descriptor, LOCK_EX) != 0 {
      if errno != EINTR { throw FileError("lock", file.path) }
    }
  }

  /// Takes the lock when it is free; false when another process holds it.
  package func tryAcquire() throws(FileError) -> Bool {
    while flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return false }
      if errno != EINTR { throw FileError("lock", file.path) }
    }
    return true
  }

  /// Gives the lock back; closing the file would do the same.
  package func release() { flock(file.descriptor, LOCK_UN) }

  /// Runs `body` while the lock is held.
  package func whileHeld<Result>(_ body: () throws -> Result) throws -> Result {
    try acquire()
    defer { release() }
    return try body()
  }

  /// Overwrites the lock file's contents, for people who look: who holds it, a counter.
  package func write(note: String) throws(FileError) {
    try file.truncate(to: 0)
    try file.write(Array(note.utf8))
  }

  /// What `write(note:)` left there.
  package func note() throws(FileError) -> String {
    String(decoding: try file.bytes(from: 0, count: 256), as: UTF8.self)
  }
}
