extension Metadata {
  /// Reads a JPEG's application segments, comments, and data after its end.
  init(ofJPEG photo: [UInt8], structure: JPEGStructure) {
    self.init()
    var parts = ProfileParts()
    for segment in structure.segments {
      let contents = ByteReader(photo, segment.contents)
      switch segment.marker {
      case 0xE0: readJFIF(contents)
      case 0xE1: readApplication1(contents)
      case 0xE2 where contents.begins(with: "ICC_PROFILE\0"): parts.add(contents)
      case 0xE2 where contents.begins(with: "MPF\0"): add("second picture")
      case 0xEB where contents.begins(with: "JP"): add("content credentials")
      case 0xED where contents.begins(with: "Photoshop 3.0\0"): readPhotoshop(contents)
      case 0xEE where contents.begins(with: "Adobe"): break
      case 0xFE: add("comment")
      default: add("application data")
      }
    }
    if parts.count > 0 { readProfile(parts.whole(of: photo) ?? []) }
    if let end = structure.end { readRest(ByteReader(photo, end..<photo.count)) }
  }

  private mutating func readJFIF(_ contents: ByteReader) {
    if contents.begins(with: "JFIF\0") {
      let hasThumbnail = (contents.byte(at: 12) ?? 0) > 0 && (contents.byte(at: 13) ?? 0) > 0
      if hasThumbnail { add("embedded thumbnail") }
    } else {
      add(contents.begins(with: "JFXX\0") ? "embedded thumbnail" : "application data")
    }
  }

  private mutating func readApplication1(_ contents: ByteReader) {
    if contents.begins(with: "Exif\0") {
      readExif(contents.dropFirst(6))
    } else if contents.begins(with: "http://ns.adobe.com/xap/1.0/\0")
      || contents.begins(with: "http://ns.adobe.com/xmp/extension/\0")
    {
      readXMP(contents)
    } else {
      add("application data")
    }
  }

  /// Photoshop's resources, each: "8BIM", number, name of even length, size, data of even length.
  private mutating func readPhotoshop(_ contents: ByteReader) {
    var offset = 14
    var isKnown = false
    while contents.begins(with: "8BIM", at: offset), let number = contents.uint16(at: offset + 4),
      let nameLength = contents.byte(at: offset + 6)
    {
      let sizeOffset = offset + 6 + (Int(nameLength) + 2) / 2 * 2
      guard let size = contents.uint32(at: sizeOffset) else { break }
      switch number {
      case 0x0404: add("IPTC")
      case 0x0409, 0x040C: add("embedded thumbnail")
      default: add("Photoshop data")
      }
      isKnown = true
      offset = sizeOffset + 4 + (size + 1) / 2 * 2
    }
    if !isKnown { add("Photoshop data") }
  }
}

/// The segments of a colour profile, in any order.
private struct ProfileParts {
  private var parts: [Int: Range<Int>] = [:]
  private var total: Int?
  private var isBroken = false
  private(set) var count = 0

  mutating func add(_ contents: ByteReader) {
    count += 1
    guard let number = contents.byte(at: 12), let total = contents.byte(at: 13), number >= 1, number <= total,
      self.total == nil || self.total == Int(total), parts[Int(number)] == nil
    else {
      isBroken = true
      return
    }
    self.total = Int(total)
    parts[Int(number)] = contents.range.lowerBound + 14..<contents.range.upperBound
  }

  func whole(of photo: [UInt8]) -> [UInt8]? {
    guard !isBroken, let total, parts.count == total else { return nil }
    guard parts.values.reduce(0, { $0 + $1.count }) <= Metadata.profileLimit else { return nil }
    return (1...total).flatMap { photo[parts[$0] ?? 0..<0] }
  }
}
