import Testing

/// A HEIC by heif-enc or an AVIF by avifenc, to which properties and a name can be added.
struct HEIFFile {
  private(set) var bytes: [UInt8]

  init(_ heic: [UInt8]) { bytes = heic }

  struct Property {
    let name: String
    let contents: [UInt8]

    static func turn(_ quarters: UInt8) -> Property { Property(name: "irot", contents: [quarters]) }
    static func mirror(across: Bool) -> Property { Property(name: "imir", contents: [across ? 1 : 0]) }
    static func crop(width: Int, height: Int) -> Property {
      Property(name: "clap", contents: [width, 1, height, 1, 0, 1, 0, 1].flatMap { PNGFile.number($0) })
    }

    static func colors(primaries: UInt8, transfer: UInt8, matrix: UInt8, isFullRange: Bool) -> Property {
      Property(
        name: "colr",
        contents: Array("nclx".utf8) + [0, primaries, 0, transfer, 0, matrix, isFullRange ? 0x80 : 0])
    }

    /// The properties for a picture stored with EXIF's orientation.
    static func upright(from orientation: Int) -> [Property] {
      switch orientation {
      case 2: [.mirror(across: true)]
      case 3: [.turn(2)]
      case 4: [.mirror(across: false)]
      case 5: [.turn(3), .mirror(across: true)]
      case 6: [.turn(3)]
      case 7: [.turn(1), .mirror(across: true)]
      case 8: [.turn(1)]
      default: []
      }
    }
  }

  /// The same file with more properties of the primary picture, after the existing ones.
  func adding(_ properties: [Property]) -> HEIFFile {
    var copy = self
    for property in properties { copy.add(property) }
    return copy
  }

  /// The same file with another name of its first item, which follows the item's version, numbers and type.
  func naming(_ name: String) -> HEIFFile {
    var copy = self
    let place = start(of: "infe") + 20
    let end = bytes[place...].firstIndex(of: 0) ?? place
    let distance = name.utf8.count - (end - place)
    for box in ["meta", "iinf", "infe"] { copy.grow(box, by: distance) }
    copy.move(by: distance)
    copy.bytes.replaceSubrange(place..<end, with: Array(name.utf8))
    return copy
  }

  /// The same file with another matrix and range in its video stream than heif-enc's JFIF: `1 101 1 1` means full range
  /// and a description, followed by unspecified primaries and transfer, and the matrix 6.
  func withStream(matrix: UInt8, isFullRange: Bool) throws -> HEIFFile {
    func bits(_ numbers: [UInt8]) -> [UInt8] { numbers.flatMap { number in (0..<8).map { number >> (7 - $0) & 1 } } }
    let all = bits(bytes)
    let written: [UInt8] = [1, 1, 0, 1, 1, 1] + bits([2, 2, 6])
    let wanted: [UInt8] = [1, 1, 0, 1, isFullRange ? 1 : 0, 1] + bits([2, 2, matrix])
    let start = try #require(all.offset(of: written), "heif-enc writes other streams")
    let changed = all[..<start] + wanted + all[(start + wanted.count)...]
    var copy = self
    copy.bytes = bytes.indices.map { index in changed[8 * index..<8 * index + 8].reduce(0) { $0 << 1 | $1 } }
    return copy
  }

  private mutating func add(_ property: Property) {
    let box = PNGFile.number(8 + property.contents.count) + Array(property.name.utf8) + property.contents
    let container = start(of: "ipco")
    let end = container + number(at: container)
    var count = 0
    var offset = container + 8
    while offset < end {
      count += 1
      offset += number(at: offset)
    }
    let associations = entryOfPrimaryItem()
    grow("meta", by: box.count + 1)
    grow("iprp", by: box.count + 1)
    grow("ipco", by: box.count)
    grow("ipma", by: 1)
    move(by: box.count + 1)
    bytes[associations] += 1
    bytes.insert(UInt8(0x80 | (count + 1)), at: associations + 1 + Int(bytes[associations]) - 1)
    bytes.insert(contentsOf: box, at: end)
  }

  /// The offset of the primary picture's property count.
  private func entryOfPrimaryItem() -> Int {
    let primary = start(of: "pitm") + 12
    var offset = start(of: "ipma") + 16
    while bytes[offset] != bytes[primary] || bytes[offset + 1] != bytes[primary + 1] {
      offset += 3 + Int(bytes[offset + 2])
    }
    return offset + 2
  }

  /// Moves item offsets, which count from the start of the file.
  private mutating func move(by distance: Int) {
    let locations = start(of: "iloc")
    precondition(bytes[locations + 8] < 2 && bytes[locations + 12] == 0x44, "heif-enc writes other tables")
    let hasConstruction = bytes[locations + 8] == 1
    let base = Int(bytes[locations + 13] >> 4)
    var offset = locations + 16
    for _ in 0..<short(at: locations + 14) {
      let isInFile = !hasConstruction || bytes[offset + 3] == 0
      offset += (hasConstruction ? 6 : 4) + base
      let extents = short(at: offset)
      for extent in 0..<extents where isInFile {
        let place = offset + 2 + 8 * extent
        bytes.replaceSubrange(place..<place + 4, with: PNGFile.number(number(at: place) + distance))
      }
      offset += 2 + 8 * extents
    }
  }

  private mutating func grow(_ name: String, by count: Int) {
    let box = start(of: name)
    bytes.replaceSubrange(box..<box + 4, with: PNGFile.number(number(at: box) + count))
  }

  private func start(of name: String) -> Int { (bytes.offset(of: Array(name.utf8)) ?? 4) - 4 }
  private func short(at offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }
  private func number(at offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
}
