import Digests
import DurableFiles
import Glibc

extension Spool {
  /// Moves something out of `new/` that is no request's directory, with a name that may be anything, into a directory of
  /// its own in `failed/` that explains why.
  ///
  /// Order: the directory and its `error`, synced; then the rename; then both parents. Killed in between, the entry is
  /// still in `new/` and is refused again.
  ///
  /// - Returns: the name in `failed/`, or nil when the entry is gone.
  @discardableResult
  public func quarantine(_ name: [UInt8], because refusal: Refusal) throws -> RequestName? {
    try Self.quarantine(name, from: new, to: failed, because: "\(refusal)")
  }

  /// The same for any two directories of the spool.
  static func quarantine(
    _ name: [UInt8], from new: Directory, to failed: Directory, because sentence: String
  ) throws -> RequestName? {
    let readable = String(decoding: name.prefix(100), as: UTF8.self)
    let base = RequestName(readable) ?? RequestName("unnamed-" + SHA256Digest(of: name).hex.prefix(16))
    guard let base else { return nil }
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

  /// As `quarantine`; what its owner does not let us move stays where it is. One such entry must not stop the others.
  public func quarantineIfMovable(_ name: [UInt8], because refusal: Refusal) throws {
    do { try quarantine(name, because: refusal) } catch let error as FileError
      where error.code == EACCES || error.code == EPERM
    {}
  }
}

extension Directory {
  /// What our file `error` says in a request that failed; nil where there is none.
  public func error() throws -> String? {
    guard try entry("error")?.kind == .file, let bytes = try file("error").contents(limit: 65_536) else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
  }
}
