import Messages

/// The segments of a JPEG file (ITU-T T.81, annex B), found without decoding anything. Every length is checked.
struct JPEGStructure {
  /// What the frame header says.
  struct Frame {
    /// The low byte of the SOF marker: 0xc0 baseline, 0xc2 progressive, 0xc3 lossless, from 0xc9 arithmetic.
    let marker: UInt8
    let precision: Int
    let width: Int
    let height: Int
    let components: Int
  }

  struct Segment {
    let marker: UInt8
    let contents: Range<Int>
  }

  private(set) var frame: Frame?
  /// APPn and COM segments, in order.
  private(set) var segments: [Segment] = []
  private(set) var scans = 0
  /// Bytes behind the end of the picture.
  private(set) var trailingBytes = 0
  /// Whether the end-of-image marker was found.
  private(set) var hasEnd = false

  /// More segments than any honest file has.
  private static let mostSegments = 4_096

  init(_ bytes: [UInt8]) {
    bytes.withUnsafeBufferPointer { walk($0) }
  }

  private mutating func walk(_ bytes: UnsafeBufferPointer<UInt8>) {
    var position = 2
    while position + 1 < bytes.count, segments.count < Self.mostSegments {
      guard bytes[position] == 0xff else {
        // Between segments there should be nothing; decoders pass over what is there.
        position += 1
        continue
      }
      let marker = bytes[position + 1]
      switch marker {
      case 0xff:
        position += 1
      case 0x00, 0x01, 0xd0...0xd8:
        position += 2
      case 0xd9:
        hasEnd = true
        trailingBytes = bytes.count - position - 2
        return
      default:
        guard position + 3 < bytes.count else { return }
        let length = Int(bytes[position + 2]) << 8 | Int(bytes[position + 3])
        guard length >= 2, position + 2 + length <= bytes.count else { return }
        let contents = position + 4..<position + 2 + length
        note(marker, contents, bytes)
        position = contents.upperBound
        if marker == 0xda {
          scans += 1
          position = endOfEntropyData(bytes, from: position)
        }
      }
    }
  }

  private mutating func note(_ marker: UInt8, _ contents: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>) {
    switch marker {
    case 0xc0...0xc3, 0xc5...0xc7, 0xc9...0xcb, 0xcd...0xcf:
      guard frame == nil, contents.count >= 6 else { return }
      let start = contents.lowerBound
      frame = Frame(
        marker: marker, precision: Int(bytes[start]), width: Int(bytes[start + 3]) << 8 | Int(bytes[start + 4]),
        height: Int(bytes[start + 1]) << 8 | Int(bytes[start + 2]), components: Int(bytes[start + 5]))
    case 0xe0...0xef, 0xfe:
      segments.append(Segment(marker: marker, contents: contents))
    default:
      break
    }
  }

  /// Entropy-coded data ends at the first marker that is neither stuffing nor a restart.
  private func endOfEntropyData(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    var position = start
    while position + 1 < bytes.count {
      if bytes[position] == 0xff {
        let next = bytes[position + 1]
        if next != 0 && next != 0xff && !(0xd0...0xd7).contains(next) { return position }
      }
      position += 1
    }
    return bytes.count
  }
}
