import Glibc

extension Directory {
  /// Removes `name` with all that is below it, by descriptors: no link is followed and no other filesystem entered.
  /// Missing is as good as removed.
  ///
  /// - Parameter depth: how many levels of directories are entered before giving up on a hostile tree.
  package func removeTree(_ name: String, depth: Int = 64) throws {
    // Most are files.
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
      // Somebody else takes it away at this moment.
    }
    try removeEmpty(name)
  }

  /// As `removeTree`, of a name that may be any bytes. One that is no UTF-8 gets another name first.
  private func removeAnything(_ name: [UInt8], depth: Int) throws {
    if let text = String(validating: name, as: UTF8.self) { return try removeTree(text, depth: depth) }
    let other = ".removed-\(UInt64.random(in: 0 ... .max))"
    if try moveAnything(name, to: self, as: other) { try removeTree(other, depth: depth) }
  }
}
