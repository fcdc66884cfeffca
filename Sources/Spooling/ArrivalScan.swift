import DurableFiles

/// What a look into `new/` found, kept as bytes in one buffer so that a million waiting names stay small.
package struct ArrivalScan: Sendable {
  /// One name found, with what decides its place.
  private struct Found {
    var changed: Int64
    var start: UInt32
    var length: UInt16
    /// Renaming changes a directory but not its contents; equal times may mean that it was made in place.
    var maybeInPlace: Bool
    /// `photospool send` numbered it, and it did not come back from `failed/`, where its number grew old.
    var numbered: Bool

    func bytes(in names: [UInt8]) -> ArraySlice<UInt8> { names[Int(start)..<Int(start) + Int(length)] }
  }

  private var names: [UInt8] = []
  private var found: [Found] = []

  /// Names that cannot be a request's: not UTF-8, or too long.
  package private(set) var foreign: [[UInt8]] = []

  package var count: Int { found.count }

  /// Looks at every name in `new` and arranges them in order of arrival.
  package init(_ new: Directory) throws {
    try new.forEachName { bytes in
      guard let name = String(validating: bytes, as: UTF8.self), names.count + bytes.count <= UInt32.max else {
        foreign.append(bytes)
        return foreign.count < 1000
      }
      // Gone between the listing and the look is normal: a client took it back.
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

  /// Whether a request did not come back from `failed/`. One that nobody may look into has no place by its number.
  private static func isFresh(_ name: String, in new: Directory) -> Bool {
    do { return try new.entry("\(name)/error") == nil } catch { return false }
  }

  /// The `index`-th name in order of arrival.
  package subscript(_ index: Int) -> (name: String, changed: Int64, maybeInPlace: Bool) {
    let entry = found[index]
    return (name(entry), entry.changed, entry.maybeInPlace)
  }

  private func name(_ entry: Found) -> String { String(decoding: entry.bytes(in: names), as: UTF8.self) }

  /// The time of the rename decides, then the name. `photospool send` numbers its requests, which is exact where a
  /// clock is not: among themselves those keep the order of their numbers, in the places that the clock gave them.
  private mutating func arrange() {
    let names = names
    func precedes(_ left: Found, _ right: Found) -> Bool {
      left.bytes(in: names).lexicographicallyPrecedes(right.bytes(in: names))
    }
    found.sort { $0.changed != $1.changed ? $0.changed < $1.changed : precedes($0, $1) }
    let places = found.indices.filter { found[$0].numbered }
    // The numbers have one length, so that names compare like numbers.
    let numbered = places.map { found[$0] }.sorted(by: precedes)
    for (place, entry) in zip(places, numbered) { found[place] = entry }
  }
}
