import DurableFiles
import Foundation
import Photos
import TestSupport
import Testing

@testable import HotFolders

@Suite struct WholeImageTests {
  private static let boxes: [UInt8] =
    [0, 0, 0, 16] + Array("ftypheic".utf8) + [0, 0, 0, 0] + [0, 0, 0, 12] + Array("mdat".utf8) + [1, 2, 3, 4]

  @Test(
    "An image is whole with its end, and not without",
    arguments: [
      (.jpeg, [0xFF, 0xD8, 0xFF, 0xE0, 1, 0xFF, 0xD9], 1), (.jpeg, [0xFF, 0xD8, 0xFF, 1, 0xFF, 0xD9, 0, 0, 0], 4),
      (.png, [0x89] + Array("PNG\r\n\u{1A}\n....IEND".utf8), 1), (.gif, Array("GIF89a...;".utf8), 1),
      (.webp, Array("RIFF".utf8) + [6, 0, 0, 0] + Array("WEBPVP".utf8), 1), (.heic, boxes, 1), (.heic, boxes, 12),
    ] as [(PhotoFormat, [UInt8], Int)])
  func ends(_ format: PhotoFormat, _ bytes: [UInt8], _ missing: Int) throws {
    let scratch = try TemporaryDirectory()
    func isWhole(_ bytes: [UInt8]) throws -> Bool {
      try Data(bytes).write(to: URL(fileURLWithPath: scratch.path("image")))
      return try WholeImage.isWhole(File(reading: scratch.path("image")), format, size: bytes.count)
    }
    #expect(try isWhole(bytes))
    #expect(try !isWhole(Array(bytes.dropLast(missing))) || (format == .heic && missing == 12))
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
