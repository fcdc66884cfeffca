import DurableFiles
import Photos

/// Whether an image file is complete, judged by its structure. An upload that breaks off leaves a file that looks closed.
enum WholeImage {
  /// Where the end of a PNG is searched: cameras append data of their own.
  private static let tail = 65_536
  private static let mostBoxes = 1_000
  /// Zeros at the end that no encoder writes.
  private static let zeros = 32

  /// - Parameters:
  ///   - size: the file's size.
  ///   - isOld: whether the file was left alone for long, so that zeros at its end are its own.
  static func isWhole(_ file: File, _ format: PhotoFormat, size: Int, isOld: Bool) throws(FileError) -> Bool {
    if !isOld, [.webp, .heic, .avif].contains(format), try endsInZeros(file, size) { return false }
    switch format {
    case .jpeg: return try hasEndOfImage(file)
    case .gif: return try hasTrailer(file)
    case .png: return try ends(file, size, with: Array("IEND".utf8))
    case .webp:
      return try file.bytes(from: 4, count: 4).enumerated().reduce(8) { $0 + Int($1.element) << (8 * $1.offset) }
        <= size
    case .heic, .avif: return try hasAllBoxes(file, size)
    default: return true
    }
  }

  /// Whether a JPEG has its end of image (T.81, B.1.1). A thumbnail inside a segment has one of its own.
  private static func hasEndOfImage(_ file: File) throws(FileError) -> Bool {
    var (bytes, offset) = (FileBytes(file), 0)
    while let byte = try bytes.at(offset), let marker = try bytes.at(offset + 1) {
      switch (byte, marker) {
      case (0xFF, 0xD9): return true
      // A stuffed zero, a restart, the start of the image, and TEM have no length.
      case (0xFF, 0x00), (0xFF, 0x01), (0xFF, 0xD0...0xD8): offset += 2
      case (0xFF, 0x02...0xFE):
        guard let high = try bytes.at(offset + 2), let low = try bytes.at(offset + 3) else { return false }
        offset += 2 + max(2, Int(high) << 8 | Int(low))
      // Coded data, or a fill byte.
      default: offset += 1
      }
    }
    return false
  }

  /// Whether the blocks of a GIF reach its trailer (GIF89a, appendix B).
  private static func hasTrailer(_ file: File) throws(FileError) -> Bool {
    var bytes = FileBytes(file)
    func colours(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 6 << Int(flags & 7) }
    guard let flags = try bytes.at(10) else { return false }
    var offset = 13 + colours(flags)
    while let introducer = try bytes.at(offset) {
      switch introducer {
      case 0x3B: return true
      case 0x21: offset += 2
      case 0x2C:
        guard let flags = try bytes.at(offset + 9) else { return false }
        offset += 11 + colours(flags)
      default:
        offset += 1
        continue
      }
      while let length = try bytes.at(offset) {
        offset += 1 + Int(length)
        if length == 0 { break }
      }
    }
    return false
  }

  private static func ends(_ file: File, _ size: Int, with mark: [UInt8]) throws(FileError) -> Bool {
    let start = max(0, size - tail)
    let bytes = try file.bytes(from: start, count: size - start)
    guard bytes.count >= mark.count else { return false }
    return (0...bytes.count - mark.count).reversed().contains { bytes[$0..<$0 + mark.count].elementsEqual(mark) }
  }

  /// Whether the end is not written yet: clients of Windows shares set the size of a file first. These formats tell their
  /// lengths in front.
  private static func endsInZeros(_ file: File, _ size: Int) throws(FileError) -> Bool {
    guard size >= zeros else { return false }
    return try file.bytes(from: size - zeros, count: zeros).allSatisfy { $0 == 0 }
  }

  /// Whether the boxes of an ISO file fill it, and pictures and their description are among them.
  private static func hasAllBoxes(_ file: File, _ size: Int) throws(FileError) -> Bool {
    var (offset, types) = (0, Set<String>())
    for _ in 0..<mostBoxes {
      if offset == size { return types.isSuperset(of: ["meta", "mdat"]) }
      let header = try file.bytes(from: offset, count: 16)
      guard header.count >= 8 else { return false }
      types.insert(String(decoding: header[4..<8], as: UTF8.self))
      var length = header.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      // 1 announces a longer number, and 0 reaches to the end.
      if length == 0 { return true }
      if length == 1 {
        guard header.count == 16, header[8] == 0, header[9] == 0 else { return false }
        length = header[8...].reduce(0) { $0 << 8 | Int($1) }
      }
      guard length >= 8, length <= size - offset else { return false }
      offset += length
    }
    return true
  }
}

/// The bytes of a file in pieces, for one that goes through it.
private struct FileBytes {
  private static let piece = 65_536

  private let file: File
  private var start = 0
  private var bytes: [UInt8] = []

  init(_ file: File) { self.file = file }

  /// nil behind the end.
  mutating func at(_ offset: Int) throws(FileError) -> UInt8? {
    if offset < start || offset >= start + bytes.count {
      start = offset
      bytes = try file.bytes(from: offset, count: Self.piece)
    }
    return offset - start < bytes.count ? bytes[offset - start] : nil
  }
}
