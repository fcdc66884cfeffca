/// What a JPEG carries besides its picture.
struct JPEGMetadata {
  private(set) var exif = ExifFacts()
  /// The embedded ICC profile, put together from its segments; nil when there is none or it is damaged.
  private(set) var profile: [UInt8]?
  /// Whether the samples are what every reader takes them for. An Adobe marker may say that they are RGB or inks.
  private(set) var isYCbCrOrGrey = true
  /// Names for people of everything that must not be sent.
  private(set) var names: [String] = []

  /// No honest profile is larger.
  private static let largestProfile = 4_000_000

  init(_ bytes: [UInt8], _ structure: JPEGStructure) {
    var pieces: [Int: ArraySlice<UInt8>] = [:]
    for segment in structure.segments {
      let contents = bytes[segment.contents]
      switch segment.marker {
      case 0xe1 where contents.starts(with: "Exif\0\0".utf8):
        name("EXIF")
        exif = ExifFacts(Array(contents.dropFirst(6)))
        exif.names.forEach { name($0) }
      case 0xe1 where contents.starts(with: "http://ns.adobe.com/xap/1.0/\0".utf8),
        0xe1 where contents.starts(with: "http://ns.adobe.com/xmp/extension/\0".utf8):
        name("XMP")
      case 0xe2 where contents.starts(with: "ICC_PROFILE\0".utf8):
        name("colour profile")
        if contents.count > 14 { pieces[Int(contents[contents.startIndex + 12])] = contents.dropFirst(14) }
      case 0xe2 where contents.starts(with: "MPF\0".utf8): name("second picture")
      case 0xed: name("IPTC")
      case 0xfe: name("comment")
      case 0xe0 where contents.starts(with: "JFIF\0".utf8): break
      case 0xee where contents.starts(with: "Adobe".utf8):
        // Adobe Technical Note 5116: the transform is the twelfth byte, and 1 is YCbCr.
        isYCbCrOrGrey = contents.count >= 12 && contents[contents.startIndex + 11] == 1
      default: name("application data")
      }
    }
    if structure.trailingBytes > 0 { name("trailing bytes") }
    let joined = pieces.sorted { $0.key < $1.key }.flatMap(\.value)
    if !joined.isEmpty, joined.count <= Self.largestProfile, pieces.keys.sorted().elementsEqual(1...pieces.count) {
      profile = joined
    }
  }

  private mutating func name(_ name: String) {
    if !names.contains(name) { names.append(name) }
  }
}
