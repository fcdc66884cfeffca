import DurableFiles
import Glibc

extension Spool {
  /// Moves something out of `new/` that is no request's directory, with a name that may be anything, into a directory of
  /// its own in `failed/` that explains why.
  ///
  /// Order: the directory and its `error`, synced; then the rename; then both parents. Killed in between, the entry is
  /// still in `new/` and is refused again.
  ///
  /// - Parameter base: what the directory is called, or an alternative of it.
  /// - Returns: the name in `failed/`, or nil when the entry is gone.
  @discardableResult
  package func quarantine(_ name: [UInt8], as base: String, because sentence: String) throws -> RequestName? {
    try Self.quarantine(name, from: new, to: failed, as: RequestName(base), because: sentence)
  }

  /// The same for any two directories of the spool.
  static func quarantine(
    _ name: [UInt8], from new: Directory, to failed: Directory, as base: RequestName? = nil, because sentence: String
  ) throws -> RequestName? {
    let readable = String(decoding: name.prefix(100), as: UTF8.self)
    guard let base = base ?? RequestName(RequestName.alternative(of: readable, 1)) else { return nil }
    for number in 1... {
      let failedName = base.alternative(number)
      guard try failed.make(failedName.text, mode: 0o700) else { continue }
      let directory = try failed.directory(failedName.text)
      try directory.write(Array("\(sentence)\n".utf8), as: "error")
      let moved: Bool
      do { moved = try new.moveAnything(name, to: directory, as: "entry") } catch {
        try? failed.removeTree(failedName.text)
        throw error
      }
      if !moved { try failed.removeTree(failedName.text) }
      try directory.sync()
      try failed.sync()
      try new.sync()
      return moved ? failedName : nil
    }
    return nil
  }
}

extension Directory {
  /// What our file `error` says in a request that failed; nil where there is none.
  package func error() throws -> String? {
    guard try entry("error")?.kind == .file, let bytes = try file("error").contents(limit: 65_536) else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
  }
}
