/// The boxes of a HEIF file (ISO/IEC 14496-12 and 23008-12), without decoding.
struct HEIFStructure {
  /// The number of listed pictures, tiles and descriptions.
  private(set) var count = 0
  private(set) var items: HEIFItems?
  private(set) var hasFilm = false
  private(set) var metadata = Metadata()

  static let boxLimit = 10_000

  init(of photo: [UInt8]) {
    let file = ByteReader(photo, photo.indices)
    Self.forEachBox(in: file) { name, contents in
      switch name {
      case "ftyp", "mdat", "free", "skip", "wide": break
      case "meta": readMeta(contents.dropFirst(4), of: file)
      case "moov":
        hasFilm = true
        metadata.add("video")
      case "mpvd", "moof": metadata.add("video")
      case "": metadata.readRest(contents)
      default: metadata.add("application data")
      }
    }
  }

  private mutating func readMeta(_ meta: ByteReader, of file: ByteReader) {
    // Libraries may read any of several lists.
    Self.forEachBox(in: meta) { name, contents in
      guard name == "iinf", let version = contents.byte(at: 0) else { return }
      count = max(count, (version == 0 ? contents.uint16(at: 4) : contents.uint32(at: 4)) ?? 0)
    }
    let items = HEIFItems(meta: meta, of: file)
    count = max(count, items.items.count)
    self.items = items
  }

  /// Boxes of one level. An invalid one is passed on with an empty name and ends the walk.
  static func forEachBox(in bytes: ByteReader, _ body: (String, ByteReader) -> Void) {
    var rest = bytes
    for _ in 0..<boxLimit where rest.count > 0 {
      guard let short = rest.uint32(at: 0), let name = rest.name(at: 4) else { return body("", rest) }
      var (size, header) = (short, 8)
      if short == 1, let long = rest.number(at: 8, length: 8) { (size, header) = (long, 16) }
      if short == 0 { size = rest.count }
      guard size >= header, size <= rest.count else { return body("", rest) }
      body(name, rest.part(at: header, count: size - header))
      rest = rest.dropFirst(size)
    }
  }
}
