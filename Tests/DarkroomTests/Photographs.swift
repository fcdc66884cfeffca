import Foundation
import Photos
import TestSupport
import Testing

enum Photographs {
  /// Clouds that depend on the seed.
  ///
  /// - Parameter kind: an ending that ImageMagick knows.
  static func clouds(_ kind: String = "jpg", width: Int = 120, height: Int = 90, seed: Int = 1) throws -> PhotoBytes {
    try PhotoBytes(cloudBytes(kind, width: width, height: height, seed: seed))
  }

  static func cloudBytes(_ kind: String = "jpg", width: Int = 120, height: Int = 90, seed: Int = 1) throws -> [UInt8] {
    try make(kind, ["-size", "\(width)x\(height)", "-seed", "\(seed)", "plasma:tan-teal"])
  }

  /// A slow PNG: all of an interlaced picture has to be held, here 100 MB.
  static func largeInterlaced() throws -> PhotoBytes {
    try PhotoBytes(
      make(
        "png",
        [
          "-size", "6000x6000", "xc:teal", "-type", "TrueColor", "-interlace", "PNG", "-define",
          "png:color-type=2", "-define", "png:compression-level=1",
        ]))
  }

  private static func make(_ kind: String, _ options: [String]) throws -> [UInt8] {
    let directory = try TemporaryDirectory()
    let result = try run(["convert-im6.q16"] + options + [directory.path("photo.\(kind)")])
    try #require(result.status == 0, "\(result.errors)")
    return [UInt8](try Data(contentsOf: URL(fileURLWithPath: directory.path("photo.\(kind)"))))
  }
}
