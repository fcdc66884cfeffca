import Messages
import Photos
import Testing

/// A small picture with all its metadata.
struct FormatSample: Sendable {
  let what: String
  let format: PhotoFormat
  let bytes: [UInt8]
  /// Bytes at the end that the picture does not need: the end of the file, checksums, padding of the last code.
  let spare: Int

  private static let made = Result { try make() }
  /// How many changed copies are tried: JPEGs are the most common photos, and quick.
  var rounds: Int { format == .jpeg ? 600 : 120 }
  static let names = [
    "JPEG", "progressive JPEG", "grey JPEG", "PNG", "interlaced PNG", "PNG with alpha", "WebP", "lossless WebP",
    "WebP with alpha", "moving WebP", "GIF", "interlaced GIF", "HEIC", "HEIC with alpha", "AVIF", "AVIF with alpha",
    "AVIF of tiles",
  ]

  static func named(_ name: String) throws -> FormatSample {
    try #require(made.get().first { $0.what == name })
  }

  private static func make() throws -> [FormatSample] {
    let camera = try Camera()
    let scene = Scene.landscape(width: 72, height: 56)
    let fading = Scene(width: 72, height: 56) { x, _ in (UInt8(3 * x), UInt8(3 * x), UInt8(3 * x)) }
    let (rgb, rgba) = (Camera.kind(2), Camera.kind(6))
    func furnished(_ png: [UInt8]) -> [UInt8] {
      PNGFile(png).inserting("iCCP", Array("p3\0\0".utf8) + Deflate.stored(MatrixProfile.p3.icc))
        .inserting("eXIf", exifBlock(orientation: 6)).inserting("tEXt", Array("Title\0Words".utf8)).bytes
    }
    func jpeg(_ what: String, _ options: [String]) throws -> FormatSample {
      let bytes = try camera.photograph(
        scene, ["-quality", "75"] + options, profile: MatrixProfile.p3.icc,
        tags: ["Make=Camera", "GPSLatitude=47.5", "Orientation=6"])
      return FormatSample(what: what, format: .jpeg, bytes: bytes, spare: 8)
    }
    let png = furnished(try camera.png(scene, rgb))
    let transparent = furnished(try camera.png(scene, alpha: fading, rgba))
    let moving = try camera.store(camera.webp(camera.png(scene), ["-q", "80"]), as: "frame.webp")
    try camera.tool(
      ["webpmux", "-frame", moving, "+100", "-frame", moving, "+100", "-o", camera.directory.path("moving.webp")])
    return [
      try jpeg("JPEG", []), try jpeg("progressive JPEG", ["-progressive"]),
      try jpeg("grey JPEG", ["-grayscale", "-restart", "2"]),
      FormatSample(what: "PNG", format: .png, bytes: png, spare: 26),
      FormatSample(
        what: "interlaced PNG", format: .png, bytes: furnished(try camera.png(scene, rgb + ["-interlace", "PNG"])),
        spare: 26),
      FormatSample(what: "PNG with alpha", format: .png, bytes: transparent, spare: 26),
      FormatSample(what: "WebP", format: .webp, bytes: try camera.webp(png, ["-q", "80"]), spare: 1),
      FormatSample(what: "lossless WebP", format: .webp, bytes: try camera.webp(png, ["-lossless"]), spare: 1),
      FormatSample(
        what: "WebP with alpha", format: .webp, bytes: try camera.webp(transparent, ["-q", "80"]), spare: 1),
      FormatSample(what: "moving WebP", format: .webp, bytes: try camera.read("moving.webp"), spare: 1),
      FormatSample(what: "GIF", format: .gif, bytes: try camera.gif([scene]), spare: 4),
      FormatSample(
        what: "interlaced GIF", format: .gif, bytes: try camera.gif([scene], ["-interlace", "GIF"]), spare: 4),
      FormatSample(what: "HEIC", format: .heic, bytes: try camera.heic(png), spare: 0),
      FormatSample(what: "HEIC with alpha", format: .heic, bytes: try camera.heic(transparent), spare: 0),
      FormatSample(what: "AVIF", format: .avif, bytes: try camera.avif(png), spare: 0),
      FormatSample(what: "AVIF with alpha", format: .avif, bytes: try camera.avif(transparent), spare: 0),
      FormatSample(
        what: "AVIF of tiles", format: .avif,
        bytes: try camera.avif(camera.png(.landscape(width: 128, height: 128), rgb), ["-g", "2x2", "-y", "420"]),
        spare: 0),
    ]
  }

  static let causes: Set<Cause> = [.unsupportedImage, .truncatedImage, .imageLimits]
}

/// Prepares a photo, or expects a refusal of its own. Returns whether it was prepared.
@discardableResult func decide(_ photo: [UInt8], _ name: String) -> Bool {
  do {
    let result = try prepare(photo)
    #expect(result.width > 0 && result.height > 0 && result.jpeg.count <= 999_999)
    return true
  } catch {
    #expect(FormatSample.causes.contains(error.cause), "\(name): \(error)")
    #expect(!error.sentence.contains("\n") && error.sentence.count < 300, "\(name): \(error)")
    return false
  }
}
