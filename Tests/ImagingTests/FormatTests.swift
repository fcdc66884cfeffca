import Imaging
import Messages
import Photos
import TestSupport
import Testing

/// Other formats than JPEG show the same picture. The scenes are small. Differences are means over all samples, mostly
/// the JPEG's loss.
@Suite struct FormatTests {
  private static let size = (width: 203, height: 151)
  private static let scene = Scene.landscape(width: size.width, height: size.height)
  private static let flag = Scene.flag(width: size.width, height: size.height)
  private static let fading = Scene.fading(width: size.width, height: size.height)
  /// Transparent in a corner.
  private static let cornered = Scene(width: size.width, height: size.height) { x, y in
    x < 60 && y < 40 ? (0, 0, 0) : (255, 255, 255)
  }

  private func grey(_ scene: Scene) -> Scene {
    .grey(width: scene.width, height: scene.height) { x, y in scene[x, y].0 }
  }

  @Test(
    "A PNG of any kind shows the same within three levels; white shines through what is half transparent",
    arguments: [
      (0, 1, false), (0, 2, false), (0, 4, false), (0, 8, false), (0, 16, false), (0, 1, true), (0, 2, true),
      (0, 4, true), (0, 8, true), (0, 16, true), (2, 8, false), (2, 16, false), (2, 8, true), (2, 16, true),
      (3, 1, false), (3, 2, false), (3, 4, false), (3, 8, false), (3, 4, true), (3, 8, true), (4, 8, false),
      (4, 16, false), (6, 8, false), (6, 16, false), (6, 8, true),
    ])
  func png(color: Int, depth: Int, isInterlaced: Bool) throws {
    let scene: Scene =
      switch color {
      case 0: levels(depth)
      case 3: depth < 4 ? squares(1 << depth) : Self.flag
      case 4: grey(Self.scene)
      default: Self.scene
      }
    let alpha = color < 4 ? nil : Self.fading
    let photo = try Camera().png(
      scene, alpha: alpha, Camera.kind(color, depth) + (isInterlaced ? ["-interlace", "PNG"] : []))
    #expect(photo[24...28].elementsEqual([UInt8(depth), UInt8(color), 0, 0, isInterlaced ? 1 : 0]))
    try expect(photo, .png, shows: alpha.map { scene.covering(through: $0) } ?? scene, within: color == 0 ? 2 : 3)
  }

  /// The levels of a depth; the first and the last are black and white.
  private func levels(_ depth: Int) -> Scene {
    let steps = depth < 8 ? (1 << depth) - 1 : 255
    return .grey(width: 203, height: 151) { x, y in UInt8((x / 8 + y / 16) % (steps + 1) * 255 / steps) }
  }

  /// Squares of so many colours.
  private func squares(_ count: Int) -> Scene {
    let all: [(UInt8, UInt8, UInt8)] = [(200, 30, 40), (250, 240, 230), (30, 60, 170), (60, 150, 80)]
    return Scene(width: 203, height: 151) { x, y in all[(x / 48 + y / 48) % count] }
  }

  @Test("A grey PNG stays grey", arguments: [1, 2, 4, 8, 16], [false, true])
  func greyPNG(depth: Int, isInterlaced: Bool) throws {
    let camera = try Camera()
    let prepared = try prepare(
      camera.png(levels(depth), Camera.kind(0, depth) + (isInterlaced ? ["-interlace", "PNG"] : [])))
    for jpeg in [prepared.jpeg, prepared.thumbnail, prepared.blurred] {
      #expect(try camera.pixels(of: jpeg).starts(with: Array("P5".utf8)))
    }
  }

  @Test("A colour that a PNG calls transparent is white, within three levels", arguments: [0, 2, 3], [8, 16])
  func transparentColor(color: Int, depth: Int) throws {
    guard color != 3 || depth == 8 else { return }
    let camera = try Camera()
    let scene = color == 0 ? grey(Self.flag) : Self.flag
    var file = PNGFile(try camera.png(scene, Camera.kind(color, depth)))
    // The colour of the upper left corner, as a sample of this depth or an index in the palette.
    let corner: [UInt8] = color == 0 ? [200] : [200, 30, 40]
    if color == 3 {
      let palette = try #require(file.chunks.first { $0.name == "PLTE" }).data
      let index = try #require((0..<palette.count / 3).first { palette[3 * $0..<3 * $0 + 3].elementsEqual(corner) })
      file.insert("tRNS", [UInt8](repeating: 255, count: index) + [0])
    } else {
      file.insert("tRNS", corner.flatMap { depth == 16 ? [$0, $0] : [0, $0] })
    }
    let expected = Scene(width: scene.width, height: scene.height) { x, y in
      scene[x, y] == scene[0, 0] ? (255, 255, 255) : scene[x, y]
    }
    try expect(file.bytes, .png, shows: expected, within: 3)
  }

  @Test("An animated PNG shows its default picture, and the other frames are reported as left out")
  func animatedPNG() throws {
    let camera = try Camera()
    let second = PNGFile(try camera.png(.plain(0, 255, 0))).imageData
    func control(_ sequence: Int) -> [UInt8] {
      [sequence, 64, 48, 0, 0].flatMap { PNGFile.number($0) } + [0, 10, 0, 100, 0, 0]
    }
    var file = PNGFile(try camera.png(.plain(200, 60, 50)))
    file.insert("acTL", PNGFile.number(2) + PNGFile.number(0))
    file.insert("fcTL", control(0))
    file.insert("fcTL", control(1), before: "IEND")
    file.insert("fdAT", PNGFile.number(2) + second, before: "IEND")
    try expect(file.bytes, .png, shows: .plain(200, 60, 50), within: 3)
    #expect(try prepare(file.bytes).stripped == ["further frames"])
  }

  @Test("A PNG shows the same with empty parts before and after its picture") func emptyParts() throws {
    let file = PNGFile(try Camera().png(Self.scene)).inserting("IDAT", []).inserting("IDAT", [], before: "IEND")
    try expect(file.bytes, .png, shows: Self.scene, within: 3)
  }

  @Test("A lossy WebP shows the same within four levels", arguments: [["-q", "95"], ["-q", "95", "-sharp_yuv"]])
  func lossyWebP(options: [String]) throws {
    let camera = try Camera()
    try expect(camera.webp(camera.png(Self.scene), options), .webp, shows: Self.scene, within: 4)
  }

  @Test("A lossless WebP shows the same within three levels", arguments: [Self.scene, Self.flag])
  func losslessWebP(scene: Scene) throws {
    let camera = try Camera()
    let photo = try camera.webp(camera.png(scene), ["-lossless", "-z", "3"])
    #expect(photo.contains("VP8L"))
    try expect(photo, .webp, shows: scene, within: 3)
  }

  @Test("Half transparent pixels of a WebP are blended with white, within four levels", arguments: [false, true])
  func alphaWebP(isLossless: Bool) throws {
    let camera = try Camera()
    let png = try camera.png(Self.scene, alpha: Self.fading, ["-define", "png:color-type=6"])
    let photo = try camera.webp(png, isLossless ? ["-lossless", "-exact", "-z", "3"] : ["-q", "95"])
    try expect(photo, .webp, shows: Self.scene.covering(through: Self.fading), within: 4)
  }

  @Test("A moving WebP shows its first frame, within four levels")
  func animatedWebP() throws {
    let camera = try Camera()
    let first = try camera.store(camera.png(Self.flag), as: "first.png")
    let second = try camera.store(camera.png(Self.scene), as: "second.png")
    let path = camera.directory.path("moving.webp")
    for options in [["-lossy", "-q", "95"], ["-lossless"]] {
      try camera.tool(["img2webp"] + options + [first, second, "-o", path])
      let photo = try camera.read("moving.webp")
      try expect(photo, .webp, shows: Self.flag, within: 4)
      #expect(try prepare(photo).stripped == ["further frames"])
    }
  }

  @Test("A first frame that covers part of a WebP's canvas stands in its place on white, within three levels")
  func smallFrameWebP() throws {
    let camera = try Camera()
    let small = Self.scene.part(x: 40, y: 30, width: 100, height: 80)
    let frames = try [
      camera.store(camera.webp(camera.png(small), ["-lossless"]), as: "small.webp"),
      camera.store(camera.webp(camera.png(Self.scene), ["-lossless"]), as: "whole.webp"),
    ]
    let path = camera.directory.path("moving.webp")
    try camera.tool(
      ["webpmux", "-frame", frames[0], "+100+40+30+0+b", "-frame", frames[1], "+100+0+0+0+b", "-o", path])
    let expected = Scene(width: 203, height: 151) { x, y in
      (40..<140).contains(x) && (30..<110).contains(y) ? Self.scene[x, y] : (255, 255, 255)
    }
    try expect(camera.read("moving.webp"), .webp, shows: expected, within: 3)
  }

  @Test("A GIF that became a moving WebP shows its first frame, within three levels")
  func webpOfGIF() throws {
    let camera = try Camera()
    let gif = try camera.store(camera.gif([Self.flag, .flag(width: 100, height: 50)]), as: "moving.gif")
    try camera.tool(["gif2webp", "-quiet", gif, "-o", camera.directory.path("moving.webp")])
    try expect(camera.read("moving.webp"), .webp, shows: Self.flag, within: 3)
  }

  @Test("A GIF shows its colours within three levels", arguments: [[], ["-interlace", "GIF"]])
  func gif(options: [String]) throws {
    let camera = try Camera()
    try expect(camera.gif([Self.flag], options), .gif, shows: Self.flag, within: 3)
    let photo = try camera.gif([Self.scene], options)
    try expect(photo, .gif, shows: camera.look(at: photo, "gif"), within: 4)
  }

  @Test("Transparent pixels of a GIF are white, within three levels")
  func transparentGIF() throws {
    let photo = try Camera().gif([Self.flag], alpha: Self.cornered)
    try expect(photo, .gif, shows: Self.flag.covering(through: Self.cornered), within: 3)
  }

  @Test("A moving GIF shows its first frame, and the others are reported as left out")
  func animatedGIF() throws {
    let photo = try Camera().gif([Self.flag, Self.scene, Self.cornered], ["-loop", "0"])
    try expect(photo, .gif, shows: Self.flag, within: 3)
    #expect(try prepare(photo).stripped == ["further frames"])
  }

  @Test(
    "A frame of a GIF stands in its place on white, on a screen that is at least as large as the frame",
    arguments: [(20, 10, 300, 200), (150, 100, 250, 200), (60, 40, 203, 151), (0, 0, 400, 160), (240, 190, 245, 195)])
  func frameOfGIF(left: Int, top: Int, width: Int, height: Int) throws {
    let photo = try Camera().gif([Self.flag], ["-repage", "\(width)x\(height)+\(left)+\(top)"])
    let expected = Scene(width: max(width, left + 203), height: max(height, top + 151)) { x, y in
      let isCovered = (left..<left + 203).contains(x) && (top..<top + 151).contains(y)
      return isCovered ? Self.flag[x - left, y - top] : (255, 255, 255)
    }
    try expect(photo, .gif, shows: expected, within: 3)
  }

  @Test(
    "A HEIC of any sampling and depth shows the same within four levels",
    arguments: [
      ["-q", "95"], ["-q", "95", "-p", "chroma=422"], ["-q", "95", "-p", "chroma=444"],
      ["-L", "-p", "chroma=444", "--matrix_coefficients=0"], ["-q", "95", "-b", "10"], ["-q", "95", "-b", "12"],
    ])
  func heic(options: [String]) throws {
    let camera = try Camera()
    let depth = options.contains("-b") ? 16 : 8
    let png = try camera.png(Self.scene, Camera.kind(2, depth))
    try expect(camera.heic(png, options), .heic, shows: Self.scene, within: 4)
  }

  @Test("A grey HEIC shows the same within three levels")
  func greyHEIC() throws {
    let camera = try Camera()
    let scene = grey(Self.scene)
    try expect(camera.heic(camera.png(scene, Camera.kind(0))), .heic, shows: scene, within: 3)
  }

  @Test(
    "Half transparent pixels of a HEIC are blended with white, multiplied before or not, within four levels",
    arguments: [false, true])
  func alphaHEIC(isMultiplied: Bool) throws {
    let camera = try Camera()
    let scene = isMultiplied ? Self.scene.covering(0, through: Self.fading) : Self.scene
    let png = try camera.png(scene, alpha: Self.fading, Camera.kind(6))
    let photo = try camera.heic(png, ["-q", "95"] + (isMultiplied ? ["--premultiplied-alpha"] : []))
    try expect(photo, .heic, shows: Self.scene.covering(through: Self.fading))
  }

  @Test(
    "Contents decide what a file is, and not the first of its brands",
    arguments: [
      (PhotoFormat.heic, "mif1"), (.heic, "msf1"), (.heic, "heix"), (.avif, "mif1"), (.avif, "avis"), (.avif, "miaf"),
    ])
  func brand(format: PhotoFormat, brand: String) throws {
    let camera = try Camera()
    let png = try camera.png(Self.scene, Camera.kind(2))
    var photo = try format == .heic ? camera.heic(png) : camera.avif(png)
    photo.replaceSubrange(8..<12, with: Array(brand.utf8))
    try expect(photo, format, shows: Self.scene)
  }

  @Test(
    "Every picture of the corpus is prepared, whatever its format", .enabled(if: Corpus.path != nil, Corpus.isAbsent))
  func corpus() throws {
    let camera = try Camera()
    for folder in ["formats", "heic"] {
      for photo in try Corpus.files(in: folder) where PhotoFormat(of: photo.bytes) != .jpeg {
        do {
          let prepared = try prepare(photo.bytes)
          let seen = try camera.look(at: prepared.jpeg)
          #expect((seen.width, seen.height) == (prepared.width, prepared.height), "\(photo.name)")
        } catch let error as DeliveryError {
          #expect(photo.name.hasPrefix("fuzz_") || photo.name.hasSuffix(".avif"), "\(photo.name): \(error)")
        }
      }
    }
  }
}
