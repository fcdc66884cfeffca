import DurableFiles

/// The result of scanning `new/`, in one byte buffer, so that a million waiting names stay small.
package struct ArrivalScan: Sendable {
  /// A name with its place in the order.
  private struct Found {
    var changed: Int64
    var start: UInt32
    var length: UInt16
    /// Renaming changes a directory but not its contents, so equal times may mean that it was made in place.
    var maybeInPlace: Bool
    /// `photospool send` numbered it, and it did not return from `failed/` with an old number.
    var numbered: Bool

    func bytes(in names: [UInt8]) -> ArraySlice<UInt8> { names[Int(start)..<Int(start) + Int(length)] }
  }

  private var names: [UInt8] = []
  private var found: [Found] = []

  /// Names that no request can have: not UTF-8, or too long.
  package private(set) var foreign: [[UInt8]] = []

  package var count: Int { found.count }

  /// Reads every name in `new` and sorts them in order of arrival.
  package init(_ new: Directory) throws {
    try new.forEachName { bytes in
      guard let name = String(validating: bytes, as: UTF8.self), names.count + bytes.count <= UInt32.max else {
        foreign.append(bytes)
        return foreign.count < 1000
      }
      // Its client may have taken it back since the listing.
      guard let entry = try new.entry(name) else { return true }
      let numbered = entry.kind == .directory && ArrivalNumber.isNumbered(name) && Self.isFresh(name, in: new)
      found.append(
        Found(
          changed: entry.changed, start: UInt32(names.count), length: UInt16(bytes.count),
          maybeInPlace: !numbered && entry.changed == entry.modified, numbered: numbered))
      names += bytes
      return true
    }
    arrange()
  }

  /// Whether a request has not returned from `failed/`. The number of an unreadable one is ignored.
  private static func isFresh(_ name: String, in new: Directory) -> Bool {
    do { return try new.entry("\(name)/error") == nil } catch { return false }
  }

  /// The `index`-th name in order of arrival.
  package subscript(_ index: Int) -> (name: String, changed: Int64, maybeInPlace: Bool) {
    let entry = found[index]
    return (name(entry), entry.changed, entry.maybeInPlace)
  }

  private func name(_ entry: Found) -> String { String(decoding: entry.bytes(in: names), as: UTF8.self) }

  /// Sorts by the time of the rename, then by name. Numbered requests are then sorted by number among the places they
  /// got, because numbers are exact and clocks are not.
  private mutating func arrange() {
    let names = names
    func precedes(_ left: Found, _ right: Found) -> Bool {
      left.bytes(in: names).lexicographicallyPrecedes(right.bytes(in: names))
    }
    found.sort { $0.changed != $1.changed ? $0.changed < $1.changed : precedes($0, $1) }
    let places = found.indices.filter { found[$0].numbered }
    // Numbers have one length, so names compare like numbers.
    let numbered = places.map { found[$0] }.sorted(by: precedes)
    for (place, entry) in zip(places, numbered) { found[place] = entry }
  }
}
