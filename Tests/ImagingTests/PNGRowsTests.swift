import CPNG
import CZlib
import Photos
import TestSupport
import Testing

@testable import Imaging

/// Rows of PNGs of every kind, and streams of every kind of block, against slow models of the formats.
@Suite struct PNGRowsTests {
  /// Packs bytes with zlib.
  private func packed(_ bytes: [UInt8], level: Int32, strategy: Int32) throws -> [UInt8] {
    var stream = z_stream()
    let size = Int32(MemoryLayout<z_stream>.size)
    try #require(deflateInit2_(&stream, level, Z_DEFLATED, 15, 8, strategy, ZLIB_VERSION, size) == Z_OK)
    defer { deflateEnd(&stream) }
    var result = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))))
    var bytes = bytes
    bytes.withUnsafeMutableBufferPointer { bytes in
      result.withUnsafeMutableBufferPointer { result in
        (stream.next_in, stream.avail_in) = (bytes.baseAddress, UInt32(bytes.count))
        (stream.next_out, stream.avail_out) = (result.baseAddress, UInt32(result.count))
        #expect(deflate(&stream, Z_FINISH) == Z_STREAM_END)
      }
    }
    return Array(result[..<(result.count - Int(stream.avail_out))])
  }

  /// Inflates a stream that lies in parts of one size, in pieces of one size.
  private func inflated(_ stream: [UInt8], count: Int, partSize: Int, piece: Int) -> ([UInt8], cpng_status) {
    stream.withUnsafeBufferPointer { stream in
      let parts = Swift.stride(from: 0, to: stream.count, by: partSize).map { start in
        let part = UnsafeBufferPointer(rebasing: stream[start..<min(start + partSize, stream.count)])
        return cpng_part(bytes: part.baseAddress, count: part.count)
      }
      guard let inflater = cpng_inflater_open(parts, parts.count, piece) else { return ([], CPNG_DAMAGED) }
      defer { cpng_inflater_close(inflater) }
      var result: [UInt8] = []
      while result.count < count {
        var bytes: UnsafePointer<UInt8>?
        let wanted = min(piece, count - result.count)
        let status = cpng_inflate(inflater, wanted, &bytes)
        guard status == CPNG_OK else { return (result, status) }
        result += UnsafeBufferPointer(start: bytes, count: wanted)
      }
      return (result, CPNG_OK)
    }
  }

  private static let strategies = [Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED]

  /// Bytes with repetitions at all distances, and bytes without any.
  private func mixture(_ random: inout SeededRandom, count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      switch random.next() % 4 {
      case 0: bytes += (0..<random.next() % 3000).map { _ in UInt8(truncatingIfNeeded: random.next() >> 20) }
      case 1: bytes += [UInt8](repeating: UInt8(random.next() % 256), count: Int(random.next() % 2000))
      case 2:
        let bits = UInt64(1) << (1 + random.next() % 6)
        bytes += (0..<random.next() % 3000).map { _ in UInt8(random.next() % bits) }
      default:
        guard !bytes.isEmpty else { continue }
        let start = max(0, bytes.count - 1 - Int(random.next() % 40_000))
        let part = bytes[start..<min(bytes.count, start + 1 + Int(random.next() % 600))]
        bytes += part
      }
    }
    return Array(bytes[..<count])
  }

  @Test("Whatever zlib packs comes out as it was, in any parts and pieces", arguments: Int32(0)...9, strategies)
  func inflates(level: Int32, strategy: Int32) throws {
    var random = SeededRandom(seed: UInt64(level * 10 + strategy + 1))
    for count in [1, 300, 70_000, 400_000] {
      let bytes = mixture(&random, count: count)
      let stream = try packed(bytes, level: level, strategy: strategy)
      for (partSize, piece) in [(stream.count, count), (1 + Int(random.next() % 5000), 1 + Int(random.next() % 9000))] {
        let (result, status) = inflated(stream, count: count, partSize: partSize, piece: piece)
        #expect(status == CPNG_OK && result == bytes, "\(count) bytes in parts of \(partSize), pieces of \(piece)")
      }
    }
  }

  @Test("A cut stream ends where it ends, and asking for more than there is tells so")
  func cut() throws {
    var random = SeededRandom(seed: 3)
    let bytes = mixture(&random, count: 50_000)
    let stream = try packed(bytes, level: 6, strategy: Z_DEFAULT_STRATEGY)
    for length in Swift.stride(from: 0, to: stream.count - 5, by: 97) {
      let (result, status) = inflated(Array(stream[..<length]), count: bytes.count, partSize: 500, piece: 100)
      #expect(status == CPNG_TRUNCATED && bytes.starts(with: result))
    }
    #expect(inflated(stream, count: bytes.count + 1, partSize: 9999, piece: 100).1 == CPNG_TRUNCATED)
  }

  @Test("A changed stream gives bytes or an error")
  func changed() throws {
    var random = SeededRandom(seed: 4)
    var refused = 0
    for round in 0..<3000 {
      let bytes = mixture(&random, count: 3000)
      var stream = try packed(bytes, level: Int32(round % 10), strategy: Self.strategies[round % 5])
      for _ in 0...random.next() % 3 { stream[Int(random.next() % UInt64(stream.count))] = UInt8(random.next() % 256) }
      if inflated(stream, count: 3000, partSize: 100, piece: 50).1 != CPNG_OK { refused += 1 }
    }
    #expect(0 < refused && refused < 3000)
  }

  private static let kinds: [(color: UInt8, depth: UInt8)] = [
    (0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 1), (3, 2), (3, 4), (3, 8), (4, 8), (4, 16), (6, 8),
    (6, 16),
  ]
  private static let sizes = [(1, 1), (3, 2), (5, 9), (17, 8), (64, 5), (9, 70)]

  @Test("The rows of every kind of PNG are those that were stored, whatever their filters", arguments: 0..<15)
  func rows(kind: Int) throws {
    let (color, depth) = Self.kinds[kind]
    var random = SeededRandom(seed: UInt64(kind + 1))
    for (width, height) in Self.sizes {
      for (isInterlaced, hasTransparency) in [(false, false), (false, true), (true, false), (true, true)] {
        var model = PNGModel(color: color, depth: depth, width: width, height: height, &random)
        if hasTransparency { model.addTransparency(&random) }
        let data = try packed(model.rows(isInterlaced: isInterlaced, &random), level: 6, strategy: Z_FILTERED)
        let photo = model.file(isInterlaced: isInterlaced, data: data).bytes
        #expect(try seen(photo, model) == model.expanded, "\(width)x\(height) \(isInterlaced) \(hasTransparency)")
      }
    }
  }

  private func seen(_ photo: [UInt8], _ model: PNGModel) throws -> [[UInt8]] {
    try photo.withUnsafeBufferPointer { memory in
      let picture = try PNGPicture(memory)
      let rows = try PNGRows(picture, size: PixelSize(width: model.width, height: model.height), limits: PhotoLimits())
      let count = model.expanded[0].count
      var result: [[UInt8]] = []
      for y in Swift.stride(from: 0, to: model.height, by: 2) {
        let (upper, lower) = try rows.pair(y)
        result.append(Array(UnsafeBufferPointer(start: upper, count: count)))
        if y + 1 < model.height { result.append(Array(UnsafeBufferPointer(start: lower, count: count))) }
      }
      return result
    }
  }
}
