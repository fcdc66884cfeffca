import Imaging
import Photos
import TestSupport
import Testing

/// The orientation in every format that has one, and where it is ignored. Differences are means over all samples, in
/// levels of 255.
@Suite struct FormatOrientationTests {
  private static let scene = Scene.landscape(width: 203, height: 151)

  private func expectUpright(
    _ photo: [UInt8], orientation: Int, at location: SourceLocation = #_sourceLocation
  ) throws {
    let prepared = try prepare(photo)
    #expect(prepared.original.orientation == orientation, sourceLocation: location)
    #expect((prepared.width, prepared.height) == (203, 151), sourceLocation: location)
    let camera = try Camera()
    let difference = try camera.look(at: prepared.jpeg).difference(from: Self.scene)
    #expect(difference < 4, "differs by \(difference)", sourceLocation: location)
    for small in [prepared.thumbnail, prepared.blurred] {
      let seen = try camera.look(at: small)
      #expect((seen.width, seen.height) == (203, 151), sourceLocation: location)
      #expect(seen[20, 20].0 > seen[100, 140].0 && seen[20, 20].2 < seen[190, 140].2, sourceLocation: location)
    }
  }

  @Test("A PNG with an orientation stands upright, its EXIF before or behind the picture", arguments: 1...8)
  func png(orientation: Int) throws {
    let photo = PNGFile(try Camera().png(Self.scene.stored(for: orientation)))
    let exif = exifBlock(orientation: UInt8(orientation))
    try expectUpright(photo.inserting("eXIf", exif).bytes, orientation: orientation)
    try expectUpright(photo.inserting("eXIf", exif, before: "IEND").bytes, orientation: orientation)
  }

  @Test("A WebP with an orientation stands upright, lossy, lossless and moving", arguments: 1...8)
  func webp(orientation: Int) throws {
    let camera = try Camera()
    let png = try camera.png(Self.scene.stored(for: orientation))
    let exif = try camera.store(exifBlock(orientation: UInt8(orientation)), as: "exif")
    let path = camera.directory.path("oriented.webp")
    for options in [["-q", "95"], ["-lossless"]] {
      let plain = try camera.store(camera.webp(png, options), as: "plain.webp")
      try camera.tool(["webpmux", "-set", "exif", exif, plain, "-o", path])
      try expectUpright(camera.read("oriented.webp"), orientation: orientation)
    }
    let moving = camera.directory.path("moving.webp")
    let frame = camera.directory.path("plain.webp")
    try camera.tool(["webpmux", "-frame", frame, "+100", "-frame", frame, "+100", "-o", moving])
    try camera.tool(["webpmux", "-set", "exif", exif, moving, "-o", path])
    try expectUpright(camera.read("oriented.webp"), orientation: orientation)
  }

  @Test("A WebP whose EXIF has JPEG's name in front of it stands upright")
  func webpWithName() throws {
    let camera = try Camera()
    let plain = try camera.store(camera.webp(camera.png(Self.scene.stored(for: 6))), as: "plain.webp")
    let exif = try camera.store(Array("Exif\0\0".utf8) + exifBlock(orientation: 6), as: "exif")
    let path = camera.directory.path("oriented.webp")
    try camera.tool(["webpmux", "-set", "exif", exif, plain, "-o", path])
    try expectUpright(camera.read("oriented.webp"), orientation: 6)
  }

  @Test("A HEIC is turned and mirrored by its own properties, and not again by its EXIF")
  func heic() throws {
    let camera = try Camera()
    var paths: [String] = []
    for orientation in 1...8 {
      let plain = try camera.heic(
        camera.photograph(Self.scene.stored(for: orientation), tags: ["Orientation=\(orientation)"]))
      let heic = HEIFFile(plain).adding(HEIFFile.Property.upright(from: orientation)).bytes
      try expectUpright(heic, orientation: orientation)
      paths.append(try camera.store(heic, as: "\(orientation).heic"))
    }
    for orientation in [6, 8] {
      try camera.tool(["exiftool", "-q", "-n", "-overwrite_original", "-IFD0:Orientation=\(orientation)"] + paths)
      for stored in 1...8 {
        let photo = try camera.read("\(stored).heic")
        let tag: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation)]
        let found = photo.offset(of: tag)
        #expect(found != nil, "exiftool wrote no orientation into \(stored).heic")
        try expectUpright(photo, orientation: stored)
      }
    }
  }

  @Test(
    "A HEIC is cropped by its own property before it is turned",
    arguments: [(160, 100, 1), (161, 101, 1), (150, 110, 3), (160, 100, 6), (150, 99, 8), (160, 100, 5)])
  func croppedHEIC(width: Int, height: Int, orientation: Int) throws {
    let camera = try Camera()
    let scene = Scene.landscape(width: 240, height: 180)
    let crop = (orientation >= 5 ? (height, width) : (width, height))
    let heic = HEIFFile(try camera.heic(camera.png(scene.stored(for: orientation))))
      .adding([.crop(width: crop.0, height: crop.1)] + HEIFFile.Property.upright(from: orientation)).bytes
    let prepared = try prepare(heic)
    #expect((prepared.width, prepared.height) == (width, height))
    let expected = scene.part(x: (240 - width) / 2, y: (180 - height) / 2, width: width, height: height)
    let difference = try camera.look(at: prepared.jpeg).difference(from: expected)
    #expect(difference < 5, "differs by \(difference)")
  }

  @Test("The orientation that exiftool writes is found in every format", arguments: [PhotoFormat.png, .webp])
  func byExiftool(format: PhotoFormat) throws {
    let camera = try Camera()
    let png = try camera.png(Self.scene.stored(for: 8))
    let name = "tagged." + format.rawValue
    let path = try camera.store(format == .png ? png : camera.webp(png), as: name)
    try camera.tool(["exiftool", "-q", "-n", "-overwrite_original", "-Orientation=8", "-Make=Camera", path])
    try expectUpright(camera.read(name), orientation: 8)
  }

  @Test("An oriented picture looks the same when it is made smaller, within two levels", arguments: [2, 5, 6, 7])
  func smaller(orientation: Int) throws {
    let camera = try Camera()
    let scene = Scene.landscape(width: 401, height: 299)
    let upright = try prepare(camera.png(scene)) { $0.longestSide = 120 }
    let photo = PNGFile(try camera.png(scene.stored(for: orientation)))
      .inserting("eXIf", exifBlock(orientation: UInt8(orientation))).bytes
    let prepared = try prepare(photo) { $0.longestSide = 120 }
    #expect(try camera.look(at: prepared.jpeg).difference(from: camera.look(at: upright.jpeg)) < 2)
  }
}
