import Glibc

extension Directory {
  /// Writes `bytes` as the file `name` so that a reader, and a power cut, find all of it or what was there before.
  ///
  /// Order: write `.name.tmp`, sync it, rename it onto `name`. The caller syncs the directory, once for many files.
  package func write(_ bytes: [UInt8], as name: String, mode: mode_t = 0o600) throws(FileError) {
    let temporary = ".\(name).tmp"
    let file = try newFile(temporary, mode: mode)
    try file.write(bytes)
    try file.sync()
    try replace(name, with: temporary)
  }

  /// Writes `bytes` as the file `name`, in place of one that a crash left. A reader may find a part of it, and a power
  /// cut leave one, until the caller has synced the file system, or has written it again.
  package func put(_ bytes: [UInt8], as name: String, mode: mode_t = 0o600) throws(FileError) {
    try newFile(name, mode: mode).write(bytes)
  }

  /// Makes a file, in place of one that a crash left.
  private func newFile(_ name: String, mode: mode_t) throws(FileError) -> File {
    do { return try file(creating: name, mode: mode) } catch { if !error.isTaken { throw error } }
    try remove(name)
    return try file(creating: name, mode: mode)
  }
}
