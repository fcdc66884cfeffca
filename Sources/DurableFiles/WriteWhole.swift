import Glibc

extension Directory {
  /// Writes `bytes` as the file `name` so that a reader, and a power cut, find all of it or what was there before.
  ///
  /// Order: write `.name.tmp`, sync it, rename it onto `name`. The caller syncs the directory, once for many files.
  ///
  /// - Parameter isSynced: false leaves also the file to the caller, who syncs it together with others and writes it again if
  ///   that does not come about; until then a power cut may leave neither.
  public func write(
    _ bytes: [UInt8], as name: String, mode: mode_t = 0o600, isSynced: Bool = true
  ) throws(FileError) {
    let temporary = ".\(name).tmp"
    let file = try newFile(temporary, mode: mode)
    try file.write(bytes)
    if isSynced { try file.sync() }
    try replace(name, with: temporary)
  }

  /// Makes a file, in place of one that a crash left.
  private func newFile(_ name: String, mode: mode_t) throws(FileError) -> File {
    do { return try file(creating: name, mode: mode) } catch { if !error.isTaken { throw error } }
    try remove(name)
    return try file(creating: name, mode: mode)
  }
}
