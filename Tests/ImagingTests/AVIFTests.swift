import Imaging
import Messages
import Photos
import TestSupport
import Testing

/// AVIF files show the same picture. Differences are means over all samples.
@Suite struct AVIFTests {
  private static let scene = Scene.landscape(width: 204, height: 150)
  private static let colorful = Camera.kind(2)

  @Test(
    "An AVIF of any sampling, depth and range shows the same within four levels",
    arguments: ["420", "422", "444"],
    [["-d", "8"], ["-d", "10"], ["-d", "12"], ["-d", "8", "-r", "limited"], ["-d", "10", "-r", "limited"]])
  func sampling(format: String, options: [String]) throws {
    let camera = try Camera()
    try expect(
      camera.avif(camera.png(Self.scene, Self.colorful), ["-y", format] + options), .avif, shows: Self.scene, within: 4)
  }

  @Test("A grey AVIF shows the same within three levels", arguments: ["full", "limited"])
  func grey(range: String) throws {
    let camera = try Camera()
    let scene = Scene.grey(width: 204, height: 150) { x, y in UInt8(x + y / 3) }
    try expect(camera.avif(camera.png(scene), ["-y", "400", "-r", range]), .avif, shows: scene, within: 3)
  }

  @Test("An AVIF by heif-enc shows the same within four levels")
  func libheif() throws {
    let camera = try Camera()
    let path = try camera.store(camera.png(Self.scene, Self.colorful), as: "to-avif.png")
    try camera.tool(["heif-enc", "-A", "-q", "90", "-o", camera.directory.path("photo.avif"), path])
    try expect(camera.read("photo.avif"), .avif, shows: Self.scene, within: 4)
  }

  @Test("An AVIF of green, blue and red shows the same within three levels")
  func identity() throws {
    let camera = try Camera()
    let photo = try camera.avif(camera.png(Self.scene, Self.colorful), ["-y", "444", "--cicp", "1/13/0", "-r", "full"])
    try expect(photo, .avif, shows: Self.scene, within: 3)
  }

  @Test("Half transparent pixels of an AVIF are blended with white, within four levels", arguments: [false, true])
  func alpha(isMultiplied: Bool) throws {
    let camera = try Camera()
    let fading = Scene.fading(width: 204, height: 150)
    let png = try camera.png(Self.scene, alpha: fading, Camera.kind(6))
    for options in [
      ["-y", "444"], ["-y", "420"], ["-y", "420", "-d", "10", "-r", "limited"], ["-y", "444", "-g", "2x1"],
    ] {
      try expect(
        camera.avif(png, options + (isMultiplied ? ["-p"] : [])), .avif,
        shows: Self.scene.covering(through: fading), within: 4)
    }
  }

  @Test("An AVIF is turned and mirrored by its own properties", arguments: 1...8)
  func orientation(orientation: Int) throws {
    let camera = try Camera()
    let options = [
      2: ["--imir", "1"], 3: ["--irot", "2"], 4: ["--imir", "0"], 5: ["--irot", "3", "--imir", "1"],
      6: ["--irot", "3"], 7: ["--irot", "1", "--imir", "1"], 8: ["--irot", "1"],
    ]
    let png = try camera.png(Self.scene.stored(for: orientation), Self.colorful)
    for format in ["444", "420"] {
      try expect(
        camera.avif(png, ["-y", format] + (options[orientation] ?? [])), .avif, shows: Self.scene, within: 4,
        orientation: orientation)
    }
  }

  @Test("An AVIF is cropped by its own property, at even and odd places", arguments: [(10, 20), (11, 20), (11, 31)])
  func crop(x: Int, y: Int) throws {
    let camera = try Camera()
    let photo = try camera.avif(
      camera.png(Self.scene, Self.colorful), ["-y", "444", "--crop", "\(x),\(y),141,77", "--ignore-icc"])
    try expect(photo, .avif, shows: Self.scene.part(x: x, y: y, width: 141, height: 77), within: 4)
  }

  @Test("The tiles of an AVIF are one picture", arguments: ["444", "420"])
  func grid(format: String) throws {
    let camera = try Camera()
    let scene = Scene.landscape(width: 384, height: 256)
    try expect(
      camera.avif(camera.png(scene, Self.colorful), ["-y", format, "-g", "3x2"]), .avif, shows: scene, within: 4)
  }

  @Test("The primaries and the profile of an AVIF are honoured within five levels")
  func colors() throws {
    let camera = try Camera()
    let colors: [[UInt8]] = [[200, 60, 50], [60, 200, 70], [40, 60, 190], [128, 128, 128], [180, 140, 120]]
    let png = try camera.png(.patches(colors), Self.colorful)
    let icc = PNGFile(png).inserting("iCCP", Array("p3\0\0".utf8) + Deflate.stored(MatrixProfile.p3.icc)).bytes
    for (photo, profile) in [
      (try camera.avif(png, ["--cicp", "12/13/6"]), MatrixProfile.p3),
      (try camera.avif(png, ["--cicp", "9/13/9", "-d", "10"]), .wide), (try camera.avif(icc), .p3),
      (try camera.avif(png, ["--cicp", "1/13/1", "-r", "limited"]), .standard),
    ] {
      let seen = try camera.look(at: prepare(photo).jpeg)
      for (index, color) in colors.enumerated() {
        let (mean, wanted) = (seen.mean(ofPatch: index), profile.standard(color))
        #expect(zip(mean, wanted).allSatisfy { abs($0 - $1) <= 5 }, "\(mean) where \(wanted) is wanted")
      }
    }
  }

  @Test("An AVIF that claims a giant, or has another picture than its header says, is refused")
  func sizes() throws {
    let camera = try Camera()
    let photo = try camera.avif(camera.png(Self.scene, Self.colorful))
    let extent = try #require(photo.offset(of: Array("ispe".utf8)))
    for (side, cause) in [(65500, Cause.imageLimits), (16, .truncatedImage), (0, .unsupportedImage)] {
      var changed = photo
      changed.replaceSubrange(extent + 8..<extent + 16, with: PNGFile.number(side) + PNGFile.number(side))
      #expect(refusal(of: changed)?.cause == cause)
    }
    let error = refusal(of: photo) { $0.decoderBytes = 50_000 }
    #expect(error?.cause == .imageLimits)
    #expect(error?.sentence.contains("AVIF would take more than 50000 bytes of memory") == true)
    #expect(refusal(of: photo) { $0.pixels = 204 * 150 - 1 }?.cause == .imageLimits)
  }
}
