/// A directory of a TIFF structure: its fields and its end.
struct TIFFDirectory {
  /// A limit beyond real directories.
  private static let fieldLimit = 1000

  /// The whole file, in its order of bytes.
  let tiff: ByteReader
  private let start: Int
  private let count: Int

  /// The first one of a file.
  init?(_ contents: ByteReader) {
    var tiff = contents
    if tiff.begins(with: "II") {
      tiff.isLittleEndian = true
    } else if !tiff.begins(with: "MM") {
      return nil
    }
    guard let offset = tiff.uint32(at: 4) else { return nil }
    self.init(in: tiff, at: offset)
  }

  init?(in tiff: ByteReader, at offset: Int) {
    guard let count = tiff.uint16(at: offset) else { return nil }
    self.tiff = tiff
    start = offset + 2
    self.count = min(count, Self.fieldLimit, max(0, tiff.count - start) / 12)
  }

  var end: Int { start + 12 * count }

  /// The offset of the first value with this tag, if it has at most four bytes.
  func value(_ tag: Int) -> Int? {
    for index in 0..<count where tiff.uint16(at: start + 12 * index) == tag { return start + 12 * index + 8 }
    return nil
  }

  func has(_ tag: Int) -> Bool { value(tag) != nil }

  func short(_ tag: Int) -> Int? {
    guard let value = value(tag) else { return nil }
    // Some programs write type 4, a long number.
    return tiff.uint16(at: value - 6) == 4 ? tiff.uint32(at: value) : tiff.uint16(at: value)
  }

  func long(_ tag: Int) -> Int? { value(tag).flatMap { tiff.uint32(at: $0) } }
}
