import Glibc

/// The markers of a JPEG from start to end marker, without decoding.
struct JPEGStructure {
  /// An application or comment segment.
  struct Segment {
    let marker: UInt8
    /// The range of its contents in the file, without marker and length.
    let contents: Range<Int>
  }

  /// The frame header.
  struct Frame {
    /// The low byte of the marker, 0xC0 to 0xCF, which names the process.
    let marker: UInt8
    /// Bits per sample.
    let precision: Int
    let width: Int
    let height: Int
    let components: Int
  }

  /// A limit beyond real files; later segments are ignored.
  static let segmentLimit = 2000

  private(set) var segments: [Segment] = []
  private(set) var frame: Frame?
  private(set) var scans = 0
  /// The offset after the end marker, if there is one.
  private(set) var end: Int?
  /// The transform of an Adobe marker that a wrong length hides from decoders; nil if there is none.
  private(set) var hiddenTransform: UInt8?

  init(of photo: [UInt8]) {
    var offset = 2
    while let (marker, contents) = Self.nextMarker(in: photo, from: &offset) {
      switch marker {
      case 0xD9:
        end = offset
        return
      case 0xDA:
        scans += 1
        offset = Self.endOfScan(in: photo, from: contents.upperBound)
      case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
        if frame == nil { frame = Self.frame(marker, in: ByteReader(photo, contents)) }
      case 0xE0...0xEF, 0xFE:
        if segments.count < Self.segmentLimit { segments.append(Segment(marker: marker, contents: contents)) }
        if marker == 0xE0, hiddenTransform == nil {
          findHiddenTransform(in: ByteReader(photo, photo.indices), contents)
        }
      default:
        break
      }
    }
  }

  /// A JFIF segment that claims more bytes than it has may begin Adobe's, or contain it. The transform is its last byte.
  private mutating func findHiddenTransform(in photo: ByteReader, _ contents: Range<Int>) {
    guard photo.begins(with: "JFIF\0", at: contents.lowerBound) else { return }
    let name: StaticString = "Adobe"
    // From the end of a JFIF segment's own numbers on.
    for offset in contents.dropFirst(14)
    where photo.uint32(at: offset) == 0xFFEE_000E && photo.begins(with: name, at: offset + 4) {
      hiddenTransform = photo.byte(at: offset + 15)
      return
    }
  }

  /// Finds the next marker with its contents and moves `offset` after them; nil at the end of the file, and if the
  /// contents exceed it.
  private static func nextMarker(in photo: [UInt8], from offset: inout Int) -> (UInt8, Range<Int>)? {
    while offset < photo.count {
      // libjpeg also skips other bytes.
      while offset < photo.count, photo[offset] != 0xFF { offset += 1 }
      while offset < photo.count, photo[offset] == 0xFF { offset += 1 }
      guard offset < photo.count else { return nil }
      let marker = photo[offset]
      offset += 1
      switch marker {
      case 0x00, 0x01, 0xD0...0xD8:
        continue
      case 0xD9:
        return (marker, offset..<offset)
      default:
        guard offset + 2 <= photo.count else { return nil }
        let length = Int(photo[offset]) << 8 | Int(photo[offset + 1])
        // A length below its own size counts as empty, as in libjpeg.
        let end = offset + max(2, length)
        guard end <= photo.count else { return nil }
        let contents = offset + 2..<end
        offset = end
        return (marker, contents)
      }
    }
    return nil
  }

  /// The offset of the first marker after a scan's data, in which 0xFF is followed by 0 or a restart number.
  private static func endOfScan(in photo: [UInt8], from start: Int) -> Int {
    photo.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return start }
      var offset = start
      while offset < bytes.count, let found = memchr(base + offset, 0xFF, bytes.count - offset) {
        offset = UnsafeRawPointer(found) - base
        guard offset + 1 < bytes.count else { return bytes.count }
        let next = bytes[offset + 1]
        if next != 0 && next != 0xFF && !(0xD0...0xD7).contains(next) { return offset }
        offset += next == 0xFF ? 1 : 2
      }
      return bytes.count
    }
  }

  private static func frame(_ marker: UInt8, in contents: ByteReader) -> Frame? {
    guard let precision = contents.byte(at: 0), let height = contents.uint16(at: 1),
      let width = contents.uint16(at: 3), let components = contents.byte(at: 5)
    else { return nil }
    return Frame(
      marker: marker, precision: Int(precision), width: width, height: height, components: Int(components))
  }
}
