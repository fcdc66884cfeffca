import Imaging
import TestSupport
import Testing

@Suite struct ColorTests {
  private static let colors: [[UInt8]] = [
    [200, 60, 50], [60, 200, 70], [40, 60, 190], [128, 128, 128], [250, 250, 250], [30, 20, 10], [180, 140, 120],
  ]

  private func expect(
    _ jpeg: [UInt8], shows color: [Double], within tolerance: Double = 3, at location: SourceLocation = #_sourceLocation
  ) throws {
    let mean = try Camera().look(at: jpeg).mean
    for (seen, wanted) in zip(mean, color) {
      #expect(abs(seen - wanted) <= tolerance, "saw \(mean), wanted \(color)", sourceLocation: location)
    }
  }

  @Test("A photo that says sRGB in its EXIF is left as it is")
  func standardWithoutProfile() throws {
    let photo = try Camera().photograph(
      .plain(60, 200, 70), tags: ["ExifIFD:ColorSpace=1", "InteropIFD:InteropIndex=R98"])
    #expect(try prepare(photo).isLossless)
  }

  @Test("A profile of sRGB is left out and changes nothing")
  func standardProfile() throws {
    let camera = try Camera()
    let photo = try camera.photograph(.landscape(width: 64, height: 48), profile: MatrixProfile.standard.icc)
    let prepared = try prepare(photo)
    #expect(prepared.isLossless)
    #expect(prepared.stripped == ["colour profile"])
  }

  @Test("A broken, cut or absurd profile is ignored")
  func brokenProfile() throws {
    let camera = try Camera()
    let icc = MatrixProfile.p3.icc
    for length in [40, 127, 128, 140, 200, icc.count - 4] {
      let photo = try camera.photograph(.plain(200, 60, 50), profile: Array(icc[..<length]))
      try expect(prepare(photo).jpeg, shows: [200, 60, 50], within: 40)
    }
    var random = SeededRandom(seed: 5)
    for _ in 0..<40 {
      var broken = icc
      for _ in 0..<6 { broken[Int(random.next() % UInt64(icc.count))] = UInt8(truncatingIfNeeded: random.next()) }
      let photo = try camera.photograph(.plain(200, 60, 50), profile: broken)
      #expect(try prepare(photo).width == 64)
    }
  }

  @Test("A profile in several segments is put together")
  func longProfile() throws {
    // Unused bytes after the last element make the profile long.
    var icc = MatrixProfile.p3.icc + [UInt8](repeating: 7, count: 150_000)
    for index in 0..<4 { icc[index] = UInt8(truncatingIfNeeded: icc.count >> (24 - 8 * index)) }
    let photo = try Camera().photograph(.plain(200, 60, 50), profile: icc)
    #expect(photo.count > 150_000)
    try expect(prepare(photo).jpeg, shows: MatrixProfile.p3.standard([200, 60, 50]))
  }

  @Test("A grey photo stays grey", arguments: [2048, 100])
  func grey(longestSide: Int) throws {
    let camera = try Camera()
    let scene = Scene.landscape(width: 203, height: 151)
    let photo = try camera.photograph(scene, ["-grayscale", "-quality", "95"], tags: ["Orientation=3"])
    let prepared = try prepare(photo) { $0.longestSide = longestSide }
    #expect(try camera.pixels(of: prepared.jpeg).starts(with: Array("P5".utf8)))
    #expect(try camera.pixels(of: prepared.thumbnail).starts(with: Array("P5".utf8)))
  }

  @Test("A photo of inks, stored as YCCK, comes out in its colours")
  func ycck() throws {
    let camera = try Camera()
    for color in Self.colors {
      let photo = try camera.develop(
        .plain(color[0], color[1], color[2]), ["-colorspace", "CMYK", "-sampling-factor", "1x1", "-quality", "97"])
      try expect(prepare(photo).jpeg, shows: color.map(Double.init))
    }
  }

  @Test("Adobe's marker decides whether inks are YCCK, inverted or neither")
  func adobeMarker() throws {
    // ImageMagick stores this grey as Y 0, Cb 128, Cr 128, K 128. Elsewhere the numbers mean other inks.
    let photo = try Camera().develop(.plain(128, 128, 128), ["-colorspace", "CMYK", "-quality", "97"])
    let marker = try #require(photo.offset(of: [0xFF, 0xEE, 0x00, 0x0E] + Array("Adobe".utf8)))
    try expect(prepare(photo).jpeg, shows: [128, 128, 128])
    var inverted = photo
    #expect(inverted[marker + 15] == 2)
    inverted[marker + 15] = 0
    try expect(prepare(inverted).jpeg, shows: [0, 64, 64])
    var unmarked = photo
    unmarked.removeSubrange(marker..<marker + 16)
    try expect(prepare(unmarked).jpeg, shows: [127, 63, 63])
  }

  @Test("Chroma of any sampling lies where it belongs", arguments: ["1x1", "2x1", "1x2", "2x2", "4x1", "4x2"])
  func sampling(factors: String) throws {
    let camera = try Camera()
    let scene = Scene.landscape(width: 237, height: 181)
    let photo = try camera.photograph(
      scene.stored(for: 6), ["-quality", "95", "-sample", factors], tags: ["Orientation=6"])
    #expect(try camera.look(at: prepare(photo).jpeg).difference(from: scene) < 4)
  }
}
