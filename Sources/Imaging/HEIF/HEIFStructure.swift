/// The boxes of a HEIC file (ISO/IEC 14496-12 and 23008-12), without decoding.
struct HEIFStructure {
  /// Listed pictures, tiles and descriptions.
  private(set) var items = 0
  private(set) var metadata = Metadata()

  static let boxLimit = 10_000

  init(of photo: [UInt8]) {
    Self.forEachBox(in: ByteReader(photo, photo.indices)) { name, contents in
      switch name {
      case "ftyp", "mdat", "free", "skip", "wide": break
      case "meta": readMeta(contents.dropFirst(4))
      case "mpvd", "moov", "moof": metadata.add("video")
      case "": metadata.readRest(contents)
      default: metadata.add("application data")
      }
    }
  }

  private mutating func readMeta(_ meta: ByteReader) {
    // Libraries may read any of several lists.
    Self.forEachBox(in: meta) { name, contents in
      guard name == "iinf", let version = contents.byte(at: 0) else { return }
      items = max(items, (version == 0 ? contents.uint16(at: 4) : contents.uint32(at: 4)) ?? 0)
    }
  }

  /// Boxes of one level. An invalid one is passed on with an empty name and ends the walk.
  private static func forEachBox(in bytes: ByteReader, _ body: (String, ByteReader) -> Void) {
    var rest = bytes
    for _ in 0..<boxLimit where rest.count > 0 {
      guard let short = rest.uint32(at: 0), rest.count >= 8 else { return body("", rest) }
      let name = String(decoding: rest.bytes[rest.range].dropFirst(4).prefix(4), as: UTF8.self)
      var (size, header) = (short, 8)
      if short == 1, let high = rest.uint32(at: 8), let low = rest.uint32(at: 12) {
        (size, header) = (high << 32 | low, 16)
      }
      if short == 0 { size = rest.count }
      guard size >= header, size <= rest.count else { return body("", rest) }
      body(name, rest.part(at: header, count: size - header))
      rest = rest.dropFirst(size)
    }
  }
}
