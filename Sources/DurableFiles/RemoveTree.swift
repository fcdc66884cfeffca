import Glibc

extension Directory {
  /// Removes `name` and everything below it by descriptors, if it exists, without following links or entering other
  /// filesystems.
  ///
  /// - Parameter depth: the levels of directories to enter before giving up.
  package func removeTree(_ name: String, depth: Int = 64) throws {
    // Most entries are files.
    if unlinkat(descriptor, name, 0) == 0 || errno == ENOENT { return }
    guard errno == EISDIR else { throw FileError("remove", path(of: name)) }
    guard depth > 0 else { throw FileError("remove", path(of: name), code: ELOOP) }
    do {
      let below = try directory(name)
      var children = [[UInt8]]()
      try below.forEachName { bytes in
        children.append(bytes)
        return true
      }
      for child in children { try below.removeAnything(child, depth: depth - 1) }
    } catch let error as FileError where error.isMissing {
      // Another process is removing it.
    }
    try removeEmpty(name)
  }

  /// As `removeTree`, for a name of any bytes. One that is not UTF-8 is renamed first.
  private func removeAnything(_ name: [UInt8], depth: Int) throws {
    if let text = String(validating: name, as: UTF8.self) { return try removeTree(text, depth: depth) }
    let other = ".removed-\(UInt64.random(in: 0 ... .max))"
    if try moveAnything(name, to: self, as: other) { try removeTree(other, depth: depth) }
  }
}
