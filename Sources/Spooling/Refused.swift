import DurableFiles

extension Spool {
  /// Moves an entry that is not a request's directory, under any name, from `new/` into its own directory in `failed/`
  /// with an `error`.
  ///
  /// Order: the directory and its `error`, synced; the rename; both parents. After a crash in between the entry is
  /// still in `new/` and is refused again.
  ///
  /// - Parameter base: the directory's name, or the base of an alternative.
  /// - Returns: the name in `failed/`; nil if the entry is gone.
  @discardableResult
  package func quarantine(_ name: [UInt8], as base: String, because sentence: String) throws -> RequestName? {
    try Self.quarantine(name, from: new, to: failed, as: RequestName(base), because: sentence)
  }

  /// The same for any two directories of the spool.
  ///
  /// - Parameters:
  ///   - entryName: the entry's name in its directory.
  ///   - lines: files to put beside it, with their lines.
  static func quarantine(
    _ name: [UInt8], from new: Directory, to failed: Directory, as base: RequestName? = nil,
    called entryName: String = "entry", because sentence: String, beside lines: [String: String] = [:]
  ) throws -> RequestName? {
    let readable = String(decoding: name.prefix(100), as: UTF8.self)
    guard let base = base ?? RequestName(RequestName.alternative(of: readable, 1)) else { return nil }
    for number in 1... {
      let failedName = base.alternative(number)
      guard try failed.make(failedName.text, mode: 0o700) else { continue }
      let directory = try failed.directory(failedName.text)
      try directory.write(Array("\(sentence)\n".utf8), as: "error")
      for (file, line) in lines { try directory.write(Array("\(line)\n".utf8), as: file) }
      let moved: Bool
      do { moved = try new.moveAnything(name, to: directory, as: entryName) } catch {
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
  /// The text of our file `error` in a failed request, if any.
  package func error() throws -> String? {
    guard try entry("error")?.kind == .file, let bytes = try file("error").contents(limit: 65_536) else { return nil }
    return textWithoutNewline(bytes)
  }
}
