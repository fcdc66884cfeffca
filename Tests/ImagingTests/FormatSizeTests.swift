import Imaging
import Photos
import TestSupport
import Testing

/// Large pictures of every format, compared with ImageMagick's three-lobe Lanczos filter.
@Suite struct FormatSizeTests {
  /// A picture of 2600x650 pixels with fine detail, in many formats.
  private static func large(_ camera: Camera) throws -> [UInt8] {
    let scene = try camera.store(.landscape(width: 325, height: 260), as: "small.ppm")
    // A photograph with a striped shirt: sines of growing frequency over the scene.
    let stripes = ["(", "-size", "650x2600", "gradient:", "-rotate", "90", "-evaluate", "Sine", "90", ")"]
    return try camera.convert(
      [scene, "-filter", "Mitchell", "-resize", "2600x650!"] + stripes
        + ["-compose", "Blend", "-define", "compose:args=25", "-composite", "-depth", "8", "-strip"]
        + Camera.kind(2) + ["-define", "png:compression-level=1"],
      to: "png:large.png")
  }

  @Test("Made smaller to 2048 pixels, every format is within three levels of ImageMagick's filter in the mean")
  func formats() throws {
    let camera = try Camera()
    let png = try Self.large(camera)
    let path = camera.directory.path("large.png")
    var photos: [(PhotoFormat, [UInt8], reference: String)] = [(.png, png, path)]
    let interlaced = try camera.convert([path, "-strip", "-interlace", "PNG"], to: "png:interlaced.png")
    photos.append((.png, interlaced, path))
    photos.append((.webp, try camera.webp(png, ["-q", "90", "-m", "1"]), ""))
    photos.append((.webp, try camera.webp(png, ["-lossless", "-z", "0"]), path))
    let heic = try camera.heic(png, ["-q", "90"])
    try camera.tool(["heif-convert", camera.directory.path("photo.heic"), camera.directory.path("of-heic.png")])
    photos.append((.heic, heic, camera.directory.path("of-heic.png")))
    let gif = try camera.convert([path, "+dither", "-colors", "256"], to: "gif:large.gif")
    photos.append((.gif, gif, "gif:" + camera.directory.path("large.gif") + "[0]"))
    let jpeg = try camera.convert([path, "-sampling-factor", "1x1", "-quality", "97"], to: "jpeg:large.jpg")
    photos.append((.jpeg, jpeg, "jpeg:" + camera.directory.path("large.jpg")))
    for (index, photo) in photos.enumerated() {
      let prepared = try prepare(photo.1)
      #expect(prepared.original.format == photo.0)
      #expect((prepared.width, prepared.height) == (2048, 512))
      let source = photo.reference.isEmpty ? "webp:" + (try camera.store(photo.1, as: "lossy.webp")) : photo.reference
      let difference = try camera.difference(
        "jpeg:" + camera.store(prepared.jpeg, as: "sent.jpg"),
        [source, "-filter", "Lanczos", "-resize", "2048x512!", "-depth", "8"])
      #expect(difference < 3, "\(index) \(photo.0) differs by \(difference)")
      let small = try camera.difference(
        "jpeg:" + camera.store(prepared.thumbnail, as: "thumbnail.jpg"),
        [source, "-filter", "Lanczos", "-resize", "300x75!", "-depth", "8"])
      #expect(small < 4, "\(index) \(photo.0): the thumbnail differs by \(small)")
    }
  }
}
