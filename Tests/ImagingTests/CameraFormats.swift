import TestSupport
import Testing

extension Camera {
  /// A PNG without metadata.
  ///
  /// - Parameters:
  ///   - alpha: the opacity of each pixel.
  ///   - options: ImageMagick's.
  func png(_ scene: Scene, alpha: Scene? = nil, _ options: [String] = []) throws -> [UInt8] {
    let alone = ["-strip", "-define", "png:exclude-chunk=all"]
    return try convert(picture(scene, alpha: alpha) + alone + options, to: "png:photo.png")
  }

  /// The options for a PNG of this colour type and depth, which ImageMagick would choose otherwise.
  static func kind(_ color: Int, _ depth: Int = 8) -> [String] {
    ["-define", "png:color-type=\(color)", "-define", "png:bit-depth=\(depth)"]
  }

  /// A scene as the first of ImageMagick's arguments.
  private func picture(_ scene: Scene, alpha: Scene?) throws -> [String] {
    let path = try store(scene, as: "scene.ppm")
    guard let alpha else { return [path] }
    return [path, try store(alpha, as: "alpha.ppm"), "-alpha", "off", "-compose", "CopyOpacity", "-composite"]
  }

  /// A WebP by cwebp.
  func webp(_ png: [UInt8], _ options: [String] = ["-q", "95"]) throws -> [UInt8] {
    let path = try store(png, as: "to-webp.png")
    try tool(["cwebp", "-quiet", "-metadata", "all"] + options + [path, "-o", directory.path("photo.webp")])
    return try read("photo.webp")
  }

  /// A GIF by ImageMagick, with a frame per scene.
  func gif(_ scenes: [Scene], alpha: Scene? = nil, _ options: [String] = []) throws -> [UInt8] {
    var arguments = try picture(scenes[0], alpha: alpha)
    for (index, scene) in scenes.enumerated().dropFirst() { arguments.append(try store(scene, as: "\(index).ppm")) }
    return try convert(["+dither"] + arguments + options, to: "gif:photo.gif")
  }

  /// A HEIC by heif-enc, from a PNG or a JPEG.
  ///
  /// - Parameter others: paths of further pictures in the file.
  func heic(_ photo: [UInt8], _ options: [String] = ["-q", "95"], others: [String] = []) throws -> [UInt8] {
    let path = try store(photo, as: photo.starts(with: [0xFF, 0xD8]) ? "to-heic.jpg" : "to-heic.png")
    // x265's slower presets only reduce the size.
    let fast = ["-p", "preset=ultrafast"]
    try tool(["heif-enc"] + fast + options + ["-o", directory.path("photo.heic"), path] + others)
    return try read("photo.heic")
  }

  /// An AVIF by avifenc, from a PNG.
  func avif(_ png: [UInt8], _ options: [String] = []) throws -> [UInt8] {
    let path = try store(png, as: "to-avif.png")
    // Slower speeds only reduce the size.
    try tool(["avifenc", "-s", "9", "--min", "4", "--max", "12"] + options + [path, directory.path("photo.avif")])
    return try read("photo.avif")
  }

  /// The first picture of a file as ImageMagick reads it, on white.
  func look(at photo: [UInt8], _ format: String, _ options: [String] = []) throws -> Scene {
    let path = try store(photo, as: "seen." + format)
    let white = ["-background", "white", "-flatten", "-depth", "8"]
    return try Scene(pixmap: convert(["\(format):\(path)[0]"] + white + options, to: "ppm:seen.ppm"))
  }

  /// The mean difference of two pictures that ImageMagick reads, in levels of 255; arguments change the second.
  func difference(_ first: String, _ second: [String]) throws -> Double {
    let result = try run(
      ["convert-im6.q16", first] + ["("] + second + [")", "-metric", "MAE", "-compare"]
        + ["-format", "%[distortion]", "info:"])
    try #require(result.status == 0, "\(result.errors)")
    return try 255 * #require(Double(result.output))
  }
}

func exifBlock(orientation: UInt8) -> [UInt8] {
  Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
}

extension [UInt8] {
  func addingWebPChunk(_ name: String, _ contents: [UInt8]) -> [UInt8] {
    func number(_ value: Int) -> [UInt8] { PNGFile.number(value).reversed() }
    let padding = [UInt8](repeating: 0, count: contents.count % 2)
    let whole = self + Array(name.utf8) + number(contents.count) + contents + padding
    return whole[..<4] + number(whole.count - 8) + whole[8...]
  }

  func addingGIFExtension(_ label: UInt8, _ parts: [[UInt8]]) -> [UInt8] {
    let start = 13 + (self[10] & 0x80 == 0 ? 0 : 3 << (Int(self[10] & 7) + 1))
    let block: [UInt8] = [0x21, label] + parts.flatMap { [UInt8($0.count)] + $0 } + [0]
    return self[..<start] + block + self[start...]
  }

  func addingBox(_ name: String, _ contents: [UInt8]) -> [UInt8] {
    self + PNGFile.number(8 + contents.count) + Array(name.utf8) + contents
  }
}
