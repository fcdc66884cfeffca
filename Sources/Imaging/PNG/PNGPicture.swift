import CPNG
import CZlib
import Messages

/// The chunks of a PNG that make its picture. Those that every decoder needs have to be flawless.
struct PNGPicture {
  private(set) var samples = cpng_samples()
  private(set) var isInterlaced = false
  /// The compressed rows.
  private(set) var parts: [cpng_part] = []
  /// The embedded colour profile, unless it is broken.
  private(set) var profile: [UInt8]?
  /// The file ends after the compressed rows.
  private(set) var endsAfterRows = false

  private var hasPalette = false
  private var colors = 0

  private struct Chunk {
    let name: String
    let bytes: UnsafeBufferPointer<UInt8>
    /// The checksum is right.
    let isIntact: Bool
    let isCritical: Bool
  }

  var bitsPerPixel: Int {
    let channels = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4]
    return (channels[Int(samples.color)] ?? 1) * Int(samples.depth)
  }

  init(_ photo: UnsafeBufferPointer<UInt8>) throws(DeliveryError) {
    var offset = 8
    try readHeader(Self.chunk(of: photo, at: &offset))
    while true {
      if !parts.isEmpty {
        // Nothing after the rows is needed.
        endsAfterRows = photo.count - offset < 8
        guard !endsAfterRows, photo[offset + 4..<offset + 8].elementsEqual("IDAT".utf8) else { return }
      }
      let chunk = try Self.chunk(of: photo, at: &offset)
      if chunk.isCritical && !chunk.isIntact { throw .damaged("PNG", "the checksum of \(chunk.name) is wrong") }
      try read(chunk)
    }
  }

  /// The chunk at an offset, which moves on to the next one.
  private static func chunk(
    of photo: UnsafeBufferPointer<UInt8>, at offset: inout Int
  ) throws(DeliveryError) -> Chunk {
    guard photo.count - offset >= 8 else { throw .cutOff("PNG") }
    let length = number(photo, at: offset)
    let name = photo[offset + 4..<offset + 8]
    guard name.allSatisfy({ (65...90).contains($0 & 0xDF) }) else { throw .damaged("PNG", "a chunk has no name") }
    guard length <= Int(Int32.max) else { throw .damaged("PNG", "a chunk has an impossible size") }
    guard photo.count - offset >= 12 + length else { throw .cutOff("PNG") }
    defer { offset += 12 + length }
    let words = String(decoding: name, as: UTF8.self)
    let isCritical = photo[offset + 4] & 32 == 0
    // The checksums of texts are of no interest.
    let isCompared = isCritical || ["tRNS", "iCCP"].contains(words)
    let checksum = isCompared ? Int(crc32(0, photo.baseAddress.map { $0 + offset + 4 }, UInt32(4 + length))) : 0
    return Chunk(
      name: words, bytes: UnsafeBufferPointer(rebasing: photo[offset + 8..<offset + 8 + length]),
      isIntact: !isCompared || checksum == number(photo, at: offset + 8 + length), isCritical: isCritical)
  }

  private static func number(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int) -> Int {
    bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  private mutating func readHeader(_ chunk: Chunk) throws(DeliveryError) {
    let bytes = chunk.bytes
    guard chunk.name == "IHDR", bytes.count == 13, chunk.isIntact else { throw .damaged("PNG", "it has no header") }
    (samples.depth, samples.color) = (bytes[8], bytes[9])
    let depths: [UInt8: [UInt8]] = [0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16]]
    guard depths[samples.color]?.contains(samples.depth) == true, bytes[10] == 0, bytes[11] == 0, bytes[12] <= 1 else {
      throw .damaged("PNG", "its header is invalid")
    }
    isInterlaced = bytes[12] == 1
  }

  private mutating func read(_ chunk: Chunk) throws(DeliveryError) {
    switch chunk.name {
    case "IHDR": throw .damaged("PNG", "it has two headers")
    case "PLTE": try readPalette(chunk.bytes)
    case "tRNS" where chunk.isIntact: readTransparency(chunk.bytes)
    case "iCCP" where chunk.isIntact: readProfile(chunk.bytes)
    case "IDAT":
      guard samples.color != 3 || hasPalette else { throw .damaged("PNG", "it has no palette") }
      parts.append(cpng_part(bytes: chunk.bytes.baseAddress, count: chunk.bytes.count))
    default:
      if chunk.isCritical { throw .damaged("PNG", "it has an unknown critical chunk, \(chunk.name)") }
    }
  }

  /// Colours beyond the palette are black.
  private mutating func readPalette(_ bytes: UnsafeBufferPointer<UInt8>) throws(DeliveryError) {
    // In a picture of colours it is a suggestion.
    guard samples.color == 3 else { return }
    guard !hasPalette else { throw .damaged("PNG", "it has two palettes") }
    guard bytes.count.isMultiple(of: 3), (3...768).contains(bytes.count) else {
      throw .damaged("PNG", "its palette is invalid")
    }
    hasPalette = true
    colors = min(bytes.count / 3, 1 << Int(samples.depth))
    withUnsafeMutableBytes(of: &samples.palette) { palette in
      for index in 0..<256 {
        for channel in 0..<3 { palette[4 * index + channel] = index < colors ? bytes[3 * index + channel] : 0 }
        palette[4 * index + 3] = 255
      }
    }
  }

  /// An invalid one is ignored, as is a second one.
  private mutating func readTransparency(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard !samples.has_transparent else { return }
    switch samples.color {
    case 0 where bytes.count == 2, 2 where bytes.count == 6:
      samples.has_transparent = true
      withUnsafeMutableBytes(of: &samples.transparent) { levels in
        let levels = levels.bindMemory(to: UInt16.self)
        for index in 0..<bytes.count / 2 {
          levels[index] = UInt16(bytes[2 * index]) << 8 | UInt16(bytes[2 * index + 1])
        }
      }
    case 3 where hasPalette && (1...colors).contains(bytes.count):
      samples.has_transparent = true
      withUnsafeMutableBytes(of: &samples.palette) { palette in
        for (index, alpha) in bytes.enumerated() { palette[4 * index + 3] = alpha }
      }
    default: break
    }
  }

  /// A name, the number of the compression, and the profile, which begins with its size.
  private mutating func readProfile(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard profile == nil, let name = bytes.prefix(80).firstIndex(of: 0), name > 0, bytes.count > name + 2,
      bytes[name + 1] == 0
    else { return }
    let packed = UnsafeBufferPointer(rebasing: bytes[(name + 2)...])
    let part = cpng_part(bytes: packed.baseAddress, count: packed.count)
    guard let inflater = withUnsafePointer(to: part, { cpng_inflater_open($0, 1, Metadata.profileLimit) }) else {
      return
    }
    defer { cpng_inflater_close(inflater) }
    func next(_ count: Int) -> [UInt8]? {
      var found: UnsafePointer<UInt8>?
      guard cpng_inflate(inflater, count, &found) == CPNG_OK else { return nil }
      return Array(UnsafeBufferPointer(start: found, count: count))
    }
    guard let beginning = next(4) else { return }
    let size = beginning.reduce(0) { $0 << 8 | Int($1) }
    guard (128...Metadata.profileLimit).contains(size), let rest = next(size - 4) else { return }
    profile = beginning + rest
  }
}
