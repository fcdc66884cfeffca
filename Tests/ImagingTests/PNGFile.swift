/// A PNG as a list of chunks, for changes that tools do not make.
struct PNGFile {
  struct Chunk: Equatable {
    var name: String
    var data: [UInt8]
  }

  var chunks: [Chunk] = []

  init(_ png: [UInt8]) {
    var offset = 8
    while offset + 12 <= png.count {
      let length = png[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
      let name = String(decoding: png[offset + 4..<offset + 8], as: UTF8.self)
      chunks.append(Chunk(name: name, data: Array(png[offset + 8..<offset + 8 + length])))
      offset += 12 + length
    }
  }

  /// PNG's colour types: 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha.
  init(width: Int, height: Int, depth: UInt8 = 8, color: UInt8 = 2, isInterlaced: Bool = false, data: [UInt8] = []) {
    chunks = [
      Chunk(
        name: "IHDR", data: Self.number(width) + Self.number(height) + [depth, color, 0, 0, isInterlaced ? 1 : 0]),
      Chunk(name: "IDAT", data: data), Chunk(name: "IEND", data: []),
    ]
  }

  /// Inserts a chunk before the first one named `next`.
  mutating func insert(_ name: String, _ data: [UInt8], before next: String = "IDAT") {
    let index = chunks.firstIndex { $0.name == next } ?? chunks.count
    chunks.insert(Chunk(name: name, data: data), at: index)
  }

  func inserting(_ name: String, _ data: [UInt8], before next: String = "IDAT") -> PNGFile {
    var copy = self
    copy.insert(name, data, before: next)
    return copy
  }

  var imageData: [UInt8] { chunks.filter { $0.name == "IDAT" }.flatMap(\.data) }

  var bytes: [UInt8] {
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
      + chunks.flatMap { chunk in
        let body = Array(chunk.name.utf8) + chunk.data
        return Self.number(chunk.data.count) + body + Self.number(Int(Self.checksum(of: body)))
      }
  }

  static func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }

  private static let checksums: [UInt32] = (0..<256).map { start in
    (0..<8).reduce(UInt32(start)) { value, _ in value & 1 == 0 ? value >> 1 : 0xEDB8_8320 ^ value >> 1 }
  }

  private static func checksum(of bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(UInt32.max) { checksums[Int(($0 ^ UInt32($1)) & 255)] ^ $0 >> 8 }
  }
}

/// Handwritten streams in zlib's format.
enum Deflate {
  /// Uncompressed bytes, which can be found in the file.
  static func stored(_ bytes: [UInt8]) -> [UInt8] {
    precondition(bytes.count < 65536)
    var (low, high) = (1, 0)
    for byte in bytes {
      low = (low + Int(byte)) % 65521
      high = (high + low) % 65521
    }
    let (length, complement) = (bytes.count, ~bytes.count)
    let count = [length & 255, length >> 8, complement & 255, complement >> 8 & 255].map { UInt8($0) }
    return [0x78, 0x01, 0x01] + count + bytes + PNGFile.number(high << 16 | low)
  }

  /// A beginning followed by zeros, in about a hundredth of their size.
  static func zeros(_ count: Int, after beginning: [UInt8] = []) -> [UInt8] {
    precondition(count % 258 == 1)
    var bits = Bits()
    bits.put(0b011, 3)
    for byte in beginning + [0] {
      if byte < 144 { bits.putCode(0x30 + Int(byte), 8) } else { bits.putCode(0x190 + Int(byte) - 144, 9) }
    }
    // 258 bytes like the one before, repeatedly: the code of that length, and of distance 1.
    for _ in 0..<count / 258 { bits.put(0b0_0000_1010_0011, 13) }
    bits.put(0, 7)
    var (low, high) = (1, 0)
    for byte in beginning {
      low = (low + Int(byte)) % 65521
      high = (high + low) % 65521
    }
    high = (high + low * count) % 65521
    return [0x78, 0x01] + bits.whole + PNGFile.number(high << 16 | low)
  }

  private struct Bits {
    private var bytes: [UInt8] = []
    private var rest = 0
    private var count = 0

    mutating func put(_ value: Int, _ length: Int) {
      rest |= value << count
      count += length
      while count >= 8 {
        bytes.append(UInt8(rest & 255))
        rest >>= 8
        count -= 8
      }
    }

    /// A code, written from its highest bit on.
    mutating func putCode(_ code: Int, _ length: Int) {
      put((0..<length).reduce(0) { $0 | (code >> $1 & 1) << (length - 1 - $1) }, length)
    }

    var whole: [UInt8] { count > 0 ? bytes + [UInt8(rest)] : bytes }
  }
}
