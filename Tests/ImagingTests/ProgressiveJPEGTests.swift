import Imaging
import TestSupport
import Testing

/// Progressive JPEGs, whose scans are read by code of our own, against baseline ones with the same coefficients.
@Suite struct ProgressiveJPEGTests {
  /// All bits at once; in four steps; and with the first coefficients of each colour in a scan of its own.
  private static let scripts = [
    "0,1,2: 0-0, 0, 0; 0: 1-63, 0, 0; 1: 1-63, 0, 0; 2: 1-63, 0, 0;",
    """
    0,1,2: 0-0, 0, 3; 0: 1-9, 0, 4; 0: 10-63, 0, 4; 2: 1-63, 0, 2; 1: 1-63, 0, 2; 0,1: 0-0, 3, 2; 2: 0-0, 3, 2;
    0: 1-63, 4, 3; 0,1,2: 0-0, 2, 1; 0: 1-40, 3, 2; 0: 41-63, 3, 2; 0: 1-63, 2, 1; 1: 1-63, 2, 1; 2: 1-63, 2, 1;
    0,1,2: 0-0, 1, 0; 0: 1-63, 1, 0; 1: 1-63, 1, 0; 2: 1-63, 1, 0;
    """,
    "0: 0-0, 0, 0; 1: 0-0, 0, 0; 2: 0-0, 0, 0; 0: 1-63, 0, 0; 1: 1-63, 0, 0; 2: 1-63, 0, 0;",
  ]

  /// A scene with detail of every frequency and strong edges.
  private static let scene = Scene(width: 333, height: 217) { x, y in
    let level = UInt8(truncatingIfNeeded: (x * 7 ^ y * 13) &* 2_654_435_761 >> 9)
    return x < 160 ? (level, level &+ UInt8(y), UInt8(x)) : (x ^ y) & 8 == 0 ? (250, 240, 5) : (level / 4, 0, 200)
  }

  private func expectSame(_ photo: [UInt8], as baseline: [UInt8], at location: SourceLocation = #_sourceLocation) throws
  {
    #expect(photo.contains(where: [0xFF, 0xC2]) && baseline.contains(where: [0xFF, 0xC0]), sourceLocation: location)
    // Each scale in the frequency domain.
    for side in [320, 166, 80, 40] {
      let seen = try prepare(photo) { $0.longestSide = side }
      let wanted = try prepare(baseline) { $0.longestSide = side }
      #expect(seen.jpeg == wanted.jpeg, "\(side) pixels", sourceLocation: location)
    }
  }

  @Test(
    "A progressive JPEG gives the same bytes as a baseline one, whatever its sampling, quality and restarts",
    arguments: ["1x1", "2x1", "1x2", "2x2", "4x1", "2x2,1x1,2x1"], ["30", "92", "100"])
  func same(sampling: String, quality: String) throws {
    let camera = try Camera()
    let baseline = try camera.photograph(Self.scene, ["-quality", quality, "-sample", sampling])
    for options in [[], ["-restart", "2"], ["-restart", "3B"]] {
      try expectSame(camera.transcode(baseline, ["-progressive"] + options), as: baseline)
    }
  }

  @Test("The order of scans does not matter", arguments: 0..<3)
  func order(index: Int) throws {
    let camera = try Camera()
    let script = try camera.store(Array(Self.scripts[index].utf8), as: "script.txt")
    for quality in ["60", "95"] {
      let baseline = try camera.photograph(Self.scene, ["-quality", quality])
      try expectSame(camera.transcode(baseline, ["-scans", script]), as: baseline)
    }
  }

  @Test("Grey, red, green and blue, and inks are the same", arguments: ["grey", "rgb", "inks"])
  func colors(kind: String) throws {
    let camera = try Camera()
    let baseline =
      switch kind {
      case "grey": try camera.photograph(Self.scene, ["-grayscale"])
      case "rgb": try camera.photograph(Self.scene, ["-rgb"])
      default: try camera.develop(Self.scene, ["-colorspace", "CMYK"])
      }
    try expectSame(camera.transcode(baseline, ["-progressive"]), as: baseline)
  }

  @Test("Sizes that end within a block are the same", arguments: [(1, 1), (7, 9), (8, 16), (17, 33)])
  func sizes(width: Int, height: Int) throws {
    let camera = try Camera()
    // Turned, so that nothing is copied.
    let scene = Scene(width: width, height: height) { x, y in Self.scene[x, y] }
    let baseline = try camera.photograph(scene, ["-quality", "90"], tags: ["Orientation=3"])
    let photo = try camera.transcode(baseline, ["-progressive", "-copy", "all"])
    #expect(try prepare(photo).jpeg == prepare(baseline).jpeg)
  }

  @Test("A flaw anywhere is judged by libjpeg: the same file without its last marker is prepared the same")
  func flawed() throws {
    let camera = try Camera()
    let baseline = try camera.photograph(Self.scene, ["-quality", "90"])
    let photo = try camera.transcode(baseline, ["-progressive"])
    let scan = try #require(photo.offset(of: [0xFF, 0xDA]))
    // A second table of quantization between scans, bytes between two markers, and no end.
    let next = try #require(photo.offset(of: [0xFF, 0xC4], from: scan))
    let table: [UInt8] = [0xFF, 0xDB, 0, 67, 3] + [UInt8](repeating: 1, count: 64)
    for flawed in [
      photo[..<next] + table + photo[next...], photo[..<next] + [1, 2, 3] + photo[next...], photo.dropLast(2),
    ] {
      try expectSame(Array(flawed), as: baseline)
    }
  }
}

extension [UInt8] {
  fileprivate func contains(where pattern: [UInt8]) -> Bool { offset(of: pattern) != nil }
}

extension Camera {
  /// The same coefficients in another order, by jpegtran.
  fileprivate func transcode(_ jpeg: [UInt8], _ options: [String]) throws -> [UInt8] {
    let path = try store(jpeg, as: "to-transcode.jpg")
    try tool(["jpegtran"] + options + ["-outfile", directory.path("transcoded.jpg"), path])
    return try read("transcoded.jpg")
  }
}
