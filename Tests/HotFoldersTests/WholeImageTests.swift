import DurableFiles
import Foundation
import Photos
import TestSupport
import Testing

@testable import HotFolders

@Suite struct WholeImageTests {
  /// A thumbnail in EXIF, then one scan with a stuffed zero, a restart and a fill byte.
  private static let jpeg: [UInt8] =
    [0xFF, 0xD8, 0xFF, 0xE1, 0, 8, 0xFF, 0xD8, 1, 2, 0xFF, 0xD9, 0xFF, 0xDA, 0, 4, 0xFF, 0xD9, 7, 0xFF, 0, 8]
    + [0xFF, 0xD3, 9, 0xFF, 0xFF, 0xD9]
  /// Tables of colours, a comment and a frame, all with bytes that look like a trailer.
  private static let gif: [UInt8] =
    Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0x3B, 0x3B, 0x3B, 0x3B, 0x3B, 0x3B]
    + [0x21, 0xFE, 2, 0x3B, 0x3B, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0x80, 0x3B, 0x3B, 0x3B, 0x3B, 0x3B, 0x3B]
    + [2, 2, 0x3B, 0x3B, 0, 0x3B]
  private static let heic: [UInt8] =
    [0, 0, 0, 16] + Array("ftypheic".utf8) + [0, 0, 0, 0] + [0, 0, 0, 8] + Array("meta".utf8)
    + [0, 0, 0, 12] + Array("mdat".utf8) + [1, 2, 3, 4]

  @Test(
    "An image is whole with its end, and not when it is cut off anywhere",
    arguments: [
      (.jpeg, jpeg), (.gif, gif), (.heic, heic), (.avif, heic), (.png, [0x89] + Array("PNG\r\n\u{1A}\n....IEND".utf8)),
      (.webp, Array("RIFF".utf8) + [6, 0, 0, 0] + Array("WEBPVP".utf8)),
    ] as [(PhotoFormat, [UInt8])])
  func ends(_ format: PhotoFormat, _ bytes: [UInt8]) throws {
    let scratch = try TemporaryDirectory()
    func isWhole(_ bytes: [UInt8]) throws -> Bool {
      try Data(bytes).write(to: URL(fileURLWithPath: scratch.path("image")))
      return try WholeImage.isWhole(File(reading: scratch.path("image")), format, size: bytes.count, isOld: false)
    }
    #expect(try isWhole(bytes))
    // Folders look at files with the first bytes of an image only.
    for count in 12..<bytes.count { #expect(try !isWhole(Array(bytes.prefix(count))), "\(count) bytes") }
    if format == .jpeg || format == .gif { #expect(try isWhole(bytes + [1, 2, 3])) }
  }

  @Test(
    "An image whose end is zeros is not written to its end, unless it is old",
    arguments: [
      (.heic, Array(heic.dropLast(12)) + [0, 0, 0, 48] + Array("mdat".utf8) + [1, 2, 3, 4, 5, 6, 7, 8]),
      (.webp, Array("RIFF".utf8) + [44, 0, 0, 0] + Array("WEBPVP8 ".utf8) + [1, 2, 3, 4]),
    ] as [(PhotoFormat, [UInt8])])
  func zeros(_ format: PhotoFormat, _ begin: [UInt8]) throws {
    let scratch = try TemporaryDirectory()
    func isWhole(_ end: [UInt8], isOld: Bool = false) throws -> Bool {
      try Data(begin + end).write(to: URL(fileURLWithPath: scratch.path("image")))
      return try WholeImage.isWhole(
        File(reading: scratch.path("image")), format, size: begin.count + end.count, isOld: isOld)
    }
    let zeros = [UInt8](repeating: 0, count: 32)
    #expect(try !isWhole(zeros))
    #expect(try isWhole(zeros, isOld: true))
    #expect(try isWhole(Array(zeros.dropLast()) + [1]))
  }

  @Test(
    "Names of unfinished uploads are left alone",
    arguments: [
      ".in.a.jpg.", "a.jpg.part", "a.jpg~", "~syncthing~a.tmp", ".syncthing.a.jpg.tmp", "camera_tmp.jpg",
      "A.JPG.FILEPART",
    ])
  func passing(_ name: String) { #expect(PassingName.isPassing(name)) }

  @Test("Names of finished files are taken", arguments: ["a.jpg", "IMG_1.HEIC", "tmp.jpg", "a"])
  func lasting(_ name: String) { #expect(!PassingName.isPassing(name)) }
}
