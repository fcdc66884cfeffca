import Glibc

extension Directory {
  /// Removes `name` with all that is below it, by descriptors: no link is followed and no other filesystem entered.
  /// Missing is as good as removed.
  ///
  /// - Parameter depth: how many levels of directories are entered before giving up on a hostile tree.
  public func removeTree(_ name: String, depth: Int = 64) throws {
    guard let entry = try entry(name) else { return }
    guard entry.kind == .directory else { return try remove(name) }
    guard depth > 0 else { throw FileError("remove", path(of: name), code: ELOOP) }
    let below = try directory(name)
    var children = [String]()
    try below.forEachName { bytes in
      children.append(String(decoding: bytes, as: UTF8.self))
      return true
    }
    for child in children { try below.removeTree(child, depth: depth - 1) }
    try removeEmpty(name)
  }
}
