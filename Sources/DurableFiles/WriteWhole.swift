import Glibc

extension Directory {
  /// Writes `bytes` as the file `name` so that a reader, and a power cut, find all of it or what was there before.
  ///
  /// Order: write `.name.tmp`, sync it, rename it onto `name`. The caller syncs the directory, once for many files.
  public func write(_ bytes: [UInt8], as name: String, mode: mode_t = 0o600) throws(FileError) {
    let temporary = ".\(name).tmp"
    try remove(temporary)
    let file = try file(creating: temporary, mode: mode)
    try file.write(bytes)
    try file.sync()
    try replace(name, with: temporary)
  }

  /// Writes `bytes` as the file `name`, in place of what was there. The caller syncs it together with others, and writes it
  /// again if that does not come about.
  public func writeUnsynced(_ bytes: [UInt8], as name: String, mode: mode_t = 0o600) throws(FileError) {
    try remove(name)
    try file(creating: name, mode: mode).write(bytes)
  }
}
