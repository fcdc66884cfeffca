/// The blocks of a GIF (GIF89a specification), without decoding.
struct GIFStructure {
  /// The first picture.
  struct Frame {
    let left: Int
    let top: Int
    let size: PixelSize
    let isInterlaced: Bool
    /// Red, green and blue of each colour; nil without a table.
    let colors: ByteReader?
    let transparent: Int?
    /// The offset of the width of its codes, before their parts.
    let data: Int
  }

  /// The size of the screen.
  private(set) var size: PixelSize?
  private(set) var frame: Frame?
  private(set) var metadata = Metadata()
  private(set) var frames = 0
  /// Whether the end mark was found.
  private(set) var isWhole = false

  /// A limit beyond real files; later blocks are ignored.
  static let blockLimit = 1_000_000

  private var transparent: Int?

  init(of photo: [UInt8]) {
    var header = ByteReader(photo, photo.indices)
    header.isLittleEndian = true
    guard let width = header.uint16(at: 6), let height = header.uint16(at: 8), let flags = header.byte(at: 10) else {
      return
    }
    size = PixelSize(width: width, height: height)
    let colors = Self.colors(header, at: 13, flags)
    var offset = 13 + Self.bytesOfColors(flags)
    var blocks = 0
    while let kind = header.byte(at: offset), blocks < Self.blockLimit {
      blocks += 1
      switch kind {
      case 0x2C:
        frames += 1
        if frames == 2 { metadata.add("further frames") }
        guard let flags = header.byte(at: offset + 9) else { return }
        if frame == nil { frame = readFrame(header, at: offset + 1, flags, colors) }
        // The byte after the colours is the width of the first codes.
        offset = Self.endOfParts(header, from: offset + 11 + Self.bytesOfColors(flags), &blocks)
      case 0x21:
        offset = readExtension(header, at: offset + 1, &blocks)
      case 0x3B:
        isWhole = true
        metadata.readRest(header.dropFirst(offset + 1))
        return
      default:
        return
      }
    }
  }

  private func readFrame(_ bytes: ByteReader, at offset: Int, _ flags: UInt8, _ common: ByteReader?) -> Frame? {
    guard let left = bytes.uint16(at: offset), let top = bytes.uint16(at: offset + 2),
      let width = bytes.uint16(at: offset + 4), let height = bytes.uint16(at: offset + 6)
    else { return nil }
    return Frame(
      left: left, top: top, size: PixelSize(width: width, height: height), isInterlaced: flags & 0x40 != 0,
      colors: Self.colors(bytes, at: offset + 9, flags) ?? common, transparent: transparent,
      data: offset + 9 + Self.bytesOfColors(flags))
  }

  private static func colors(_ bytes: ByteReader, at offset: Int, _ flags: UInt8) -> ByteReader? {
    let count = bytesOfColors(flags)
    return count > 0 ? bytes.part(at: offset, count: count) : nil
  }

  private mutating func readExtension(_ bytes: ByteReader, at offset: Int, _ blocks: inout Int) -> Int {
    let label = bytes.byte(at: offset)
    switch label {
    case 0xF9:
      // The control of the next picture: its flags, its time, and its transparent colour.
      if let flags = bytes.byte(at: offset + 2), flags & 1 == 1 {
        transparent = bytes.byte(at: offset + 5).map { Int($0) }
      } else {
        transparent = nil
      }
    case 0xFE, 0x01: metadata.add("comment")
    case 0xFF where bytes.begins(with: "NETSCAPE2.0", at: offset + 2): break
    case 0xFF where bytes.begins(with: "XMP DataXMP", at: offset + 2):
      // The text itself, which also ends like a sequence of parts.
      let end = Self.endOfParts(bytes, from: offset + 13, &blocks)
      metadata.readXMP(bytes.part(at: offset + 13, count: end - offset - 13))
      return end
    case 0xFF where bytes.begins(with: "ICCRGBG1012", at: offset + 2):
      metadata.readProfile(Self.contents(of: bytes, from: offset + 13))
    default: metadata.add("application data")
    }
    return Self.endOfParts(bytes, from: offset + 1, &blocks)
  }

  private static func bytesOfColors(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }

  private static func endOfParts(_ bytes: ByteReader, from start: Int, _ blocks: inout Int) -> Int {
    var offset = start
    while let length = bytes.byte(at: offset), length > 0, blocks < blockLimit {
      offset += 1 + Int(length)
      blocks += 1
    }
    return offset + 1
  }

  private static func contents(of bytes: ByteReader, from start: Int) -> [UInt8] {
    var contents: [UInt8] = []
    var offset = start
    while let length = bytes.byte(at: offset), length > 0, contents.count <= Metadata.profileLimit {
      let part = bytes.part(at: offset + 1, count: Int(length))
      contents += part.bytes[part.range]
      offset += 1 + Int(length)
    }
    return contents
  }
}
