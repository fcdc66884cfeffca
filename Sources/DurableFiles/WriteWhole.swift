import Glibc

extension Directory {
  /// Writes the file `name` atomically: a reader, or a power cut, finds all of `bytes` or the former contents. Order:
  /// write `.name.tmp`, sync it, rename it onto `name`. The caller syncs the directory, once for many files.
  package func write(_ bytes: [UInt8], as name: String, mode: mode_t = 0o600) throws(FileError) {
    let temporary = ".\(name).tmp"
    let file = try newFile(temporary, mode: mode)
    try file.write(bytes)
    try file.sync()
    try replace(name, with: temporary)
  }

  /// Writes the file `name`, and replaces one that a crash left. A reader or a power cut may find a part of it, until
  /// the caller has synced the filesystem or written it again.
  package func put(_ bytes: [UInt8], as name: String, mode: mode_t = 0o600) throws(FileError) {
    try newFile(name, mode: mode).write(bytes)
  }

  /// Copies a file as `put`. Returns the number of bytes; `limit + 1` if the file is larger than `limit`, and then leaves
  /// a part of it.
  package func put(
    _ file: File, limit: Int, as name: String, mode: mode_t = 0o600
  ) throws(FileError) -> Int {
    try file.copy(to: newFile(name, mode: mode), limit: limit)
  }

  /// Makes a file, and replaces one that a crash left.
  private func newFile(_ name: String, mode: mode_t) throws(FileError) -> File {
    do { return try file(creating: name, mode: mode) } catch { if !error.isTaken { throw error } }
    try remove(name)
    return try file(creating: name, mode: mode)
  }
}
