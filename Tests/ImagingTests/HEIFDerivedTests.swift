import Imaging
import Messages
import Photos
import TestSupport
import Testing

/// Pictures of a HEIC that are made of other ones, and ranges that are not as declared.
@Suite struct HEIFDerivedTests {
  private static let scene = Scene.landscape(width: 384, height: 256)

  /// Puts coded pictures together as `make_heif.py` does.
  private func make(_ camera: Camera, _ arguments: [String]) throws -> [UInt8] {
    try camera.tool(["python3", pythonScript("make_heif.py"), camera.directory.path("made.heic")] + arguments)
    return try camera.read("made.heic")
  }

  private func tiles(_ camera: Camera, _ options: [String] = ["-q", "95"], of scene: Scene = scene) throws -> [String] {
    var paths: [String] = []
    for y in stride(from: 0, to: scene.height, by: 128) {
      for x in stride(from: 0, to: scene.width, by: 128) {
        let part = scene.part(x: x, y: y, width: 128, height: 128)
        let png = try camera.png(part, Camera.kind(2))
        paths.append(try camera.store(camera.heic(png, options), as: "tile-\(x)-\(y).heic"))
      }
    }
    return paths
  }

  @Test(
    "Tiles of any sampling and depth are one picture, also if the last ones are partly outside",
    arguments: [
      ["-q", "95"], ["-q", "95", "-p", "chroma=422", "-b", "10"], ["-q", "95", "-p", "chroma=444"],
      ["-q", "95", "-b", "12"], ["-L", "-p", "chroma=444", "--matrix_coefficients=0"],
    ])
  func grid(options: [String]) throws {
    let camera = try Camera()
    let tiles = try tiles(camera, options)
    try expect(make(camera, ["grid", "3x2", "384x256"] + tiles), shows: Self.scene)
    let part = Self.scene.part(x: 0, y: 0, width: 333, height: 211)
    try expect(make(camera, ["grid", "3x2", "333x211"] + tiles), shows: part)
  }

  @Test("Tiles are cropped, turned and mirrored as one picture", arguments: 1...8)
  func turned(orientation: Int) throws {
    let camera = try Camera()
    let stored = Self.scene.stored(for: orientation)
    let layout = orientation < 5 ? ["3x2", "384x256"] : ["2x3", "256x384"]
    let crop = orientation < 5 ? "clap=201x131+97+59" : "clap=131x201+59+97"
    let turns = [
      2: ["imir=1"], 3: ["irot=2"], 4: ["imir=0"], 5: ["irot=3", "imir=1"], 6: ["irot=3"], 7: ["irot=1", "imir=1"],
      8: ["irot=1"],
    ]
    let photo = try make(
      camera, ["grid"] + layout + tiles(camera, of: stored) + [crop] + (turns[orientation] ?? []))
    let (x, y) = orientation < 5 ? (97, 59) : (59, 97)
    let part = stored.part(
      x: x, y: y, width: orientation < 5 ? 201 : 131, height: orientation < 5 ? 131 : 201)
    // An orientation that is its own inverse turns the stored picture back; for a quarter, the other one does.
    try expect(photo, shows: part.stored(for: orientation == 6 ? 8 : orientation == 8 ? 6 : orientation))
  }

  @Test("The memory for tiles is that of one row of them")
  func memory() throws {
    let camera = try Camera()
    let photo = try make(camera, ["grid", "3x2", "384x256"] + tiles(camera))
    let needed = 384 * 128 * 5 / 2
    #expect(try prepare(photo) { $0.decoderBytes = needed }.width == 384)
    let error = refusal(of: photo) { $0.decoderBytes = needed - 1 }
    #expect(error?.cause == .imageLimits)
    #expect(error?.sentence.contains("HEIC would take more than \(needed - 1) bytes of memory") == true)
  }

  @Test("A tile that is missing or cut off does not pass, and one of another size is decided")
  func brokenTiles() throws {
    let camera = try Camera()
    let tiles = try tiles(camera)
    #expect(refusal(of: try make(camera, ["grid", "3x2", "384x256"] + tiles.dropLast()))?.cause == .truncatedImage)
    let whole = try make(camera, ["grid", "3x2", "384x256"] + tiles)
    #expect(refusal(of: whole.dropLast(1))?.sentence.contains("ends before its picture does") == true)
    let small = try camera.store(camera.heic(camera.png(.landscape(width: 64, height: 64))), as: "small.heic")
    // libheif puts tiles of different sizes together.
    decide(try make(camera, ["grid", "3x2", "384x256"] + tiles.dropLast() + [small]), "tiles of two sizes")
  }

  @Test("An overlay stands on its canvas, and a derived picture without data of its own is the coded one")
  func derived() throws {
    let camera = try Camera()
    let path = try tiles(camera)[0]
    let part = Self.scene.part(x: 0, y: 0, width: 128, height: 128)
    try expect(make(camera, ["identity", path]), shows: part)
    try expect(make(camera, ["identity", path, "irot=2"]), shows: part.stored(for: 3))
    let canvas = Scene(width: 160, height: 140) { x, y in x < 128 && y < 128 ? part[x, y] : (255, 0, 255) }
    let seen = try camera.look(at: prepare(make(camera, ["overlay", "160x140", path])).jpeg)
    #expect(
      seen.part(x: 0, y: 0, width: 120, height: 120).difference(from: canvas.part(x: 0, y: 0, width: 120, height: 120))
        < 5)
  }

  @Test("If the primary picture is a thumbnail, the picture that it shows is sent")
  func thumbnail() throws {
    let camera = try Camera()
    let large = try camera.store(camera.heic(camera.png(Self.scene)), as: "large.heic")
    let small = try camera.store(camera.heic(camera.png(.landscape(width: 96, height: 64))), as: "small.heic")
    let photo = try make(camera, ["thumbnail", large, small])
    try expect(photo, shows: Self.scene)
    #expect(try prepare(photo).stripped == ["embedded thumbnail"])
  }

  @Test(
    "A picture that nothing here decodes is refused with the reason, and not as a damaged one",
    arguments: [
      ("predicted", "predicted from another one"), ("unknown", "of the kind tmap"),
      ("external", "is not in the file itself"), ("borrowed", "is made of the data of other items"),
      ("sequence", "is a film without a still picture"),
    ])
  func notDecoded(kind: String, reason: String) throws {
    let camera = try Camera()
    let path = try tiles(camera)[0]
    let error = refusal(of: try make(camera, [kind, path] + (kind == "predicted" ? [path] : [])))
    #expect(error?.cause == .unsupportedImage)
    #expect(error?.sentence.contains(reason) == true, "\(error?.sentence ?? "")")
    #expect(error?.sentence.contains("as a JPEG") == true)
  }

  @Test("A file that names a picture which is not in it is damaged")
  func unnamed() throws {
    let camera = try Camera()
    let error = refusal(of: try make(camera, ["unnamed", tiles(camera)[0]]))
    #expect(error?.cause == .truncatedImage)
    #expect(error?.sentence.contains("references a non-existing image") == true, "\(error?.sentence ?? "")")
  }

  @Test("Television's range is disbelieved if the samples exceed it, and believed if they hardly do")
  func range() throws {
    let camera = try Camera()
    // Greys of all levels.
    let all = Scene.grey(width: 256, height: 128) { x, _ in UInt8(x) }
    let path = try camera.store(camera.heic(camera.png(all, Camera.kind(2))), as: "all.heic")
    try expect(make(camera, ["grid", "1x1", "256x128", path, "nclx=1/13/6/0"]), shows: all, within: 3)
    let narrow = Scene.grey(width: 256, height: 128) { x, _ in UInt8(16 + x * 219 / 255) }
    let inside = try camera.store(camera.heic(camera.png(narrow, Camera.kind(2))), as: "narrow.heic")
    try expect(make(camera, ["grid", "1x1", "256x128", inside, "nclx=1/13/6/0"]), shows: all, within: 3)
  }
}
