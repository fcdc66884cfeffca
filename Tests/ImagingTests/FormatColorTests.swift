import Foundation
import Imaging
import TestSupport
import Testing

/// Colours of every format in every encoding. Each test checks six plain colours; tolerances are in levels of 255 per
/// component.
@Suite struct FormatColorTests {
  private static let colors: [[UInt8]] = [
    [200, 60, 50], [60, 200, 70], [40, 60, 190], [128, 128, 128], [30, 20, 10], [180, 140, 120],
  ]
  private static let scene = Scene.patches(colors)
  private static let greys: [UInt8] = [0, 40, 90, 128, 200, 255]

  private func expect(
    _ photo: [UInt8], shows colors: [[Double]], within tolerance: Double, stripped: [String]? = nil,
    at location: SourceLocation = #_sourceLocation
  ) throws {
    let camera = try Camera()
    let prepared = try prepare(photo)
    if let stripped { #expect(prepared.stripped == stripped, sourceLocation: location) }
    for (name, jpeg) in [("photo", prepared.jpeg), ("thumbnail", prepared.thumbnail)] {
      let seen = try camera.look(at: jpeg)
      for (index, color) in colors.enumerated() {
        let mean = seen.mean(ofPatch: index)
        let isNear = zip(mean, color).allSatisfy { abs($0 - $1) <= tolerance }
        #expect(isNear, "the \(name) shows \(mean) where \(color) is wanted", sourceLocation: location)
      }
    }
  }

  private func expect(
    _ photo: [UInt8], shows profile: MatrixProfile, within tolerance: Double, stripped: [String]? = nil,
    at location: SourceLocation = #_sourceLocation
  ) throws {
    try expect(
      photo, shows: Self.colors.map { profile.standard($0) }, within: tolerance, stripped: stripped, at: location)
  }

  private func withProfile(_ png: [UInt8], _ icc: [UInt8]) -> [UInt8] {
    let file = PNGFile(png)
    let hasPalette = file.chunks.contains { $0.name == "PLTE" }
    return file.inserting(
      "iCCP", Array("profile\0\0".utf8) + Deflate.stored(icc), before: hasPalette ? "PLTE" : "IDAT"
    ).bytes
  }

  private static let profiles: [MatrixProfile] = [.p3, .adobe, .proPhoto]

  @Test("An embedded profile of a JPEG is honoured within three levels", arguments: profiles)
  func jpeg(profile: MatrixProfile) throws {
    let photo = try Camera().photograph(Self.scene, profile: profile.icc)
    try expect(photo, shows: profile, within: 3, stripped: ["colour profile (converted)"])
  }

  @Test(
    "An embedded profile of a PNG is honoured within three levels", arguments: profiles, [[8, 2], [16, 2], [8, 3]])
  func png(profile: MatrixProfile, kind: [Int]) throws {
    let png = try Camera().png(Self.scene, Camera.kind(kind[1], kind[0]))
    let photo = withProfile(png, profile.icc)
    try expect(photo, shows: profile, within: 3, stripped: ["colour profile (converted)"])
  }

  @Test(
    "An embedded profile of a WebP is honoured within five levels", arguments: profiles, [["-q", "95"], ["-lossless"]])
  func webp(profile: MatrixProfile, options: [String]) throws {
    let camera = try Camera()
    let photo = try camera.webp(withProfile(camera.png(Self.scene, Camera.kind(2)), profile.icc), options)
    #expect(photo.contains("ICCP"))
    // A wide profile amplifies the loss of video range.
    try expect(photo, shows: profile, within: 5, stripped: ["colour profile (converted)"])
  }

  @Test("An embedded profile of a HEIC is honoured within four levels", arguments: profiles)
  func heic(profile: MatrixProfile) throws {
    let camera = try Camera()
    let photo = try camera.heic(withProfile(camera.png(Self.scene, Camera.kind(2)), profile.icc))
    #expect(photo.contains("colrprof"))
    try expect(photo, shows: profile, within: 4, stripped: ["colour profile (converted)"])
  }

  @Test("An embedded profile of a GIF is honoured within three levels")
  func gif() throws {
    let camera = try Camera()
    let icc = MatrixProfile.adobe.icc
    let parts = stride(from: 0, to: icc.count, by: 255).map { Array(icc[$0..<min($0 + 255, icc.count)]) }
    let photo = try camera.gif([Self.scene]).addingGIFExtension(0xFF, [Array("ICCRGBG1012".utf8)] + parts)
    try expect(photo, shows: .adobe, within: 3, stripped: ["colour profile (converted)"])
  }

  @Test("A profile of sRGB changes nothing in any format and is left out")
  func standardProfile() throws {
    let camera = try Camera()
    let png = withProfile(try camera.png(Self.scene, Camera.kind(2)), MatrixProfile.standard.icc)
    for photo in [png, try camera.webp(png), try camera.heic(png)] {
      try expect(photo, shows: .standard, within: 4, stripped: ["colour profile"])
    }
  }

  @Test("A broken profile is ignored in every format")
  func brokenProfile() throws {
    let camera = try Camera()
    let broken = Array(MatrixProfile.p3.icc[..<200])
    let plain = try camera.png(Self.scene, Camera.kind(2))
    let webp = try camera.store(camera.webp(plain), as: "plain.webp")
    let profile = try camera.store(broken, as: "broken.icc")
    try camera.tool(["webpmux", "-set", "icc", profile, webp, "-o", camera.directory.path("broken.webp")])
    for photo in [withProfile(plain, broken), try camera.read("broken.webp")] {
      try expect(photo, shows: .standard, within: 4)
    }
  }

  @Test("Inks are mixed as their profile says, within four levels")
  func inks() throws {
    let camera = try Camera()
    // Colours unlike any ink's, so that only the profile can explain them.
    let paints: [[Double]] = [[60, -30, 10], [55, 40, -20], [70, 5, 50], [25, 0, 0]]
    let profile = ICCFile.inks { inks in
      guard let only = inks.firstIndex(of: true) else { return [100, 0, 0] }
      return inks.filter { $0 }.count == 1 ? paints[only] : [0, 0, 0]
    }
    let corners: [[UInt8]] = [
      [0, 0, 0, 0], [255, 0, 0, 0], [0, 255, 0, 0], [0, 0, 255, 0], [0, 0, 0, 255], [255, 255, 255, 255],
    ]
    let raw = (0..<48).flatMap { _ in corners.flatMap { ink in (0..<48).flatMap { _ in ink } } }
    let path = try camera.store(raw, as: "inks.cmyk")
    let options = ["-sampling-factor", "1x1", "-quality", "98", "-profile", try camera.store(profile, as: "inks.icc")]
    let photo = try camera.convert(
      ["-size", "\(48 * corners.count)x48", "-depth", "8", path] + options, to: "jpeg:inks.jpg")
    let expected = ([[100, 0, 0]] + paints + [[0, 0, 0]]).map { MatrixProfile.standard(xyz: xyz(ofLab: $0)) }
    try expect(photo, shows: expected, within: 4, stripped: ["colour profile (converted)"])
  }

  private func xyz(ofLab lab: [Double]) -> [Double] {
    let middle = (lab[0] + 16) / 116
    func light(_ value: Double) -> Double {
      value > 6.0 / 29 ? value * value * value : 3 * (6.0 / 29) * (6.0 / 29) * (value - 4.0 / 29)
    }
    return [0.9642 * light(middle + lab[1] / 500), light(middle), 0.8249 * light(middle - lab[2] / 200)]
  }

  @Test("Grey with a gamma of its own gets that of sRGB within three levels, in a JPEG and in a PNG")
  func grey() throws {
    let camera = try Camera()
    let scene = Scene.patches(Self.greys.map { [$0, $0, $0] })
    let expected = Self.greys.map { level in
      [Double](repeating: MatrixProfile.level(of: pow(Double(level) / 255, 1.8)), count: 3)
    }
    let icc = ICCFile.grey(gamma: 1.8)
    let jpeg = try camera.photograph(scene, ["-grayscale", "-quality", "97"], profile: icc)
    let png = try camera.png(scene, Camera.kind(0))
    let gamma = PNGFile(png).inserting("gAMA", PNGFile.number(55556)).bytes
    for photo in [jpeg, withProfile(png, icc), gamma] {
      try expect(photo, shows: expected, within: 3)
      #expect(try camera.pixels(of: prepare(photo).jpeg).starts(with: Array("P5".utf8)))
    }
  }

  @Test("A photo made grey that kept the profile of its colours has that profile's greys", arguments: profiles)
  func greyOfColors(profile: MatrixProfile) throws {
    let scene = Scene.patches(Self.greys.map { [$0, $0, $0] })
    let photo = try Camera().photograph(scene, ["-grayscale", "-quality", "97"], profile: profile.icc)
    try expect(
      photo, shows: Self.greys.map { profile.standard([$0, $0, $0]) }, within: 3,
      stripped: [profile.gamma == nil ? "colour profile" : "colour profile (converted)"])
  }

  @Test("Adobe RGB declared only in the EXIF is honoured within four levels, in every format")
  func exif() throws {
    let camera = try Camera()
    let png = try camera.png(Self.scene, Camera.kind(2))
    let files = try [
      camera.store(camera.photograph(Self.scene), as: "named.jpg"), camera.store(png, as: "named.png"),
      camera.store(camera.webp(png), as: "named.webp"), camera.store(camera.heic(png), as: "named.heic"),
    ]
    try camera.tool(
      ["exiftool", "-q", "-n", "-overwrite_original", "-ExifIFD:ColorSpace=65535", "-InteropIFD:InteropIndex=R03"]
        + files)
    for name in ["named.jpg", "named.png", "named.webp", "named.heic"] {
      try expect(camera.read(name), shows: .adobe, within: 4, stripped: ["EXIF"])
    }
  }

  /// A PNG of the scene with further chunks before its picture.
  private func png(_ chunks: (String, [UInt8])...) throws -> [UInt8] {
    var file = PNGFile(try Camera().png(Self.scene, Camera.kind(2)))
    for (name, data) in chunks { file.insert(name, data) }
    return file.bytes
  }

  /// White, red, green and blue in a chunk, in hundred-thousandths.
  private static let chromaticities: [(profile: MatrixProfile, chunk: [UInt8])] = [
    (.p3, numbers([31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000])),
    (.adobe, numbers([31270, 32900, 64000, 33000, 21000, 71000, 15000, 6000])),
    (.standard, numbers([31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000])),
  ]

  private static func numbers(_ values: [Int]) -> [UInt8] { values.flatMap { PNGFile.number($0) } }

  @Test("A PNG that says sRGB, in any of the ways that mean it, is left as it is, within three levels")
  func standardPNG() throws {
    let gamma = ("gAMA", PNGFile.number(45455))
    let photos = try [
      png(("sRGB", [0])), png(gamma), png(gamma, ("cHRM", Self.chromaticities[2].chunk)), png(("cICP", [1, 13, 0, 1])),
      // The other chunks are ignored.
      png(("sRGB", [0]), ("gAMA", PNGFile.number(100_000)), ("cHRM", Self.chromaticities[0].chunk)),
    ]
    for photo in photos { try expect(photo, shows: .standard, within: 3, stripped: []) }
  }

  @Test("Gamma and chromaticities of a PNG are honoured within three levels", arguments: 0..<3, [1.0, 1.8, 2.6])
  func gammaAndChromaticities(index: Int, gamma: Double) throws {
    let (profile, chromaticities) = Self.chromaticities[index]
    let photo = try png(
      ("gAMA", PNGFile.number(Int((100_000 / gamma).rounded()))), ("cHRM", chromaticities))
    try expect(photo, shows: profile.with(gamma: gamma), within: 3, stripped: [])
  }

  @Test("Chromaticities without a gamma have the curve of sRGB, within three levels")
  func chromaticitiesAlone() throws {
    try expect(png(("cHRM", Self.chromaticities[0].chunk)), shows: .p3, within: 3)
    try expect(png(("gAMA", PNGFile.number(45455)), ("cHRM", Self.chromaticities[0].chunk)), shows: .p3, within: 3)
  }

  @Test("The code points of a PNG are honoured within three levels, before all else that it says")
  func codePoints() throws {
    try expect(png(("cICP", [12, 13, 0, 1])), shows: .p3, within: 3)
    try expect(png(("cICP", [9, 13, 0, 1])), shows: .wide, within: 3)
    try expect(png(("cICP", [12, 13, 0, 1]), ("sRGB", [0])), shows: .p3, within: 3)
    let both = try png(("cICP", [12, 13, 0, 1]))
    try expect(withProfile(both, MatrixProfile.adobe.icc), shows: .p3, within: 3)
    let standard = try png(("cICP", [1, 13, 0, 1]))
    try expect(withProfile(standard, MatrixProfile.adobe.icc), shows: .standard, within: 3)
  }

  @Test("White of the curves for bright screens is white, and a grey card is grey, within four levels")
  func bright() throws {
    // ITU-R BT.2408: white at 58 % of PQ and 75 % of HLG, an 18 % card at 38 % of PQ; brighter values are white, too.
    let cases: [(transfer: UInt8, levels: [UInt8], expected: [Double])] = [
      (16, [0, 97, 148, 200], [0, 100, 255, 255]), (18, [0, 191, 220], [0, 255, 255]),
    ]
    for (transfer, levels, expected) in cases {
      let png = PNGFile(try Camera().png(.patches(levels.map { [$0, $0, $0] })))
      let photo = png.inserting("cICP", [9, transfer, 0, 1]).bytes
      try expect(photo, shows: expected.map { [$0, $0, $0] }, within: 4)
    }
  }

  @Test("Chromaticities and gammas that make no sense are ignored")
  func absurd() throws {
    let camera = try Camera()
    for numbers in [
      [0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1, 1], [31270, 32900, 64000, 0, 30000, 0, 15000, 0],
    ] {
      for gamma in [0, 1, 2_147_483_647] {
        let photo = try png(("cHRM", Self.numbers(numbers)), ("gAMA", PNGFile.number(gamma)))
        let prepared = try prepare(photo)
        #expect(try camera.look(at: prepared.jpeg).width == Self.scene.width)
      }
    }
  }

  /// The scene stored so that JFIF's conversion gives it the luma and differences of another matrix and range.
  /// heif-enc's file, read with the latter, shows the scene.
  private func disguised(_ matrix: UInt8, isFullRange: Bool) throws -> [UInt8] {
    let (red, blue) = try #require(
      [1: (0.2126, 0.0722), 5: (0.299, 0.114), 6: (0.299, 0.114), 9: (0.2627, 0.0593)][matrix])
    let colors = Self.colors.map { color in
      let (r, g, b) = (Double(color[0]), Double(color[1]), Double(color[2]))
      var luma = red * r + (1 - red - blue) * g + blue * b
      var (toBlue, toRed) = ((b - luma) / (2 - 2 * blue), (r - luma) / (2 - 2 * red))
      if !isFullRange { (luma, toBlue, toRed) = (16 + luma * 219 / 255, toBlue * 224 / 255, toRed * 224 / 255) }
      let green = luma - 0.344136 * toBlue - 0.714136 * toRed
      return [luma + 1.402 * toRed, green, luma + 1.772 * toBlue].map { UInt8(min(max($0.rounded(), 0), 255)) }
    }
    return try Camera().png(.patches(colors), Camera.kind(2))
  }

  @Test(
    "The matrix, the range and the primaries of a HEIC are honoured within five levels",
    arguments: [1, 5, 6, 9] as [UInt8], [false, true])
  func codePointsOfHEIC(matrix: UInt8, isFullRange: Bool) throws {
    let heic = HEIFFile(try Camera().heic(disguised(matrix, isFullRange: isFullRange), ["-q", "98"]))
    for (primaries, profile) in [(1, MatrixProfile.standard), (12, .p3), (9, .wide)] {
      let photo = heic.adding([
        .colors(primaries: UInt8(primaries), transfer: 13, matrix: matrix, isFullRange: isFullRange)
      ])
      // A wide space amplifies the loss of eight bits and two conversions.
      try expect(photo.bytes, shows: profile, within: 5, stripped: [])
    }
  }

  @Test(
    "The matrix and range that stand in the video stream of a HEIC alone are honoured within five levels",
    arguments: [(1, false), (9, true), (6, false), (6, true)] as [(UInt8, Bool)])
  func streamOfHEIC(matrix: UInt8, isFullRange: Bool) throws {
    let png = try disguised(matrix, isFullRange: isFullRange)
    for (photo, profile) in [(png, MatrixProfile.standard), (withProfile(png, MatrixProfile.p3.icc), .p3)] {
      let heic = try HEIFFile(Camera().heic(photo, ["-q", "98"])).withStream(matrix: matrix, isFullRange: isFullRange)
      try expect(heic.bytes, shows: profile, within: 5)
    }
  }
}
