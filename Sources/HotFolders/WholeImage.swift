import DurableFiles
import Photos

/// Whether an image file is complete, judged by its structure. An upload that breaks off leaves a file that looks closed.
enum WholeImage {
  /// Where the end of a JPEG or PNG is searched: cameras append data of their own.
  private static let tail = 65_536
  private static let mostBoxes = 1_000

  /// - Parameter size: the file's size.
  static func isWhole(_ file: File, _ format: PhotoFormat, size: Int) throws(FileError) -> Bool {
    switch format {
    case .jpeg: try ends(file, size, with: [0xFF, 0xD9])
    case .png: try ends(file, size, with: Array("IEND".utf8))
    case .gif: try ends(file, size, with: [0x3B])
    case .webp:
      try file.bytes(from: 4, count: 4).enumerated().reduce(8) { $0 + Int($1.element) << (8 * $1.offset) } <= size
    case .heic, .avif: try hasAllBoxes(file, size)
    default: true
    }
  }

  private static func ends(_ file: File, _ size: Int, with mark: [UInt8]) throws(FileError) -> Bool {
    let start = max(0, size - tail)
    let bytes = try file.bytes(from: start, count: size - start)
    guard bytes.count >= mark.count else { return false }
    return (0...bytes.count - mark.count).reversed().contains { bytes[$0..<$0 + mark.count].elementsEqual(mark) }
  }

  /// Whether the boxes of an ISO file fill it.
  private static func hasAllBoxes(_ file: File, _ size: Int) throws(FileError) -> Bool {
    var offset = 0
    for _ in 0..<mostBoxes {
      if offset == size { return true }
      let header = try file.bytes(from: offset, count: 16)
      guard header.count >= 8 else { return false }
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
