import Foundation
import TestSupport
import Testing

/// Takes photographs with the tools of the distribution, and looks at what became of them.
struct Camera {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// A JPEG of the scene.
  ///
  /// - Parameters:
  ///   - options: cjpeg's.
  ///   - profile: a colour profile to embed.
  ///   - tags: exiftool's assignments, without the hyphens.
  func photograph(
    _ scene: Scene, _ options: [String] = ["-quality", "95", "-sample", "1x1"], profile: [UInt8]? = nil,
    tags: [String] = []
  ) throws -> [UInt8] {
    let (pnm, jpeg) = (directory.path("scene.ppm"), directory.path("photo.jpg"))
    let header = Data("P6\n\(scene.width) \(scene.height)\n255\n".utf8)
    try (header + Data(scene.rgb)).write(to: URL(fileURLWithPath: pnm))
    var options = options
    if let profile {
      try Data(profile).write(to: URL(fileURLWithPath: directory.path("profile.icc")))
      options += ["-icc", directory.path("profile.icc")]
    }
    try tool(["cjpeg"] + options + ["-outfile", jpeg, pnm])
    if !tags.isEmpty { try tool(["exiftool", "-q", "-n", "-overwrite_original"] + tags.map { "-\($0)" } + [jpeg]) }
    return try read("photo.jpg")
  }

  /// A JPEG of the scene by ImageMagick, for what cjpeg cannot write.
  func develop(_ scene: Scene, _ options: [String]) throws -> [UInt8] {
    let header = Data("P6\n\(scene.width) \(scene.height)\n255\n".utf8)
    try (header + Data(scene.rgb)).write(to: URL(fileURLWithPath: directory.path("scene.ppm")))
    try tool(["convert-im6.q16", directory.path("scene.ppm")] + options + ["jpeg:" + directory.path("photo.jpg")])
    return try read("photo.jpg")
  }

  /// Sets tags in a JPEG.
  func tag(_ jpeg: [UInt8], _ tags: [String]) throws -> [UInt8] {
    try write(jpeg)
    try tool(["exiftool", "-q", "-n", "-overwrite_original"] + tags.map { "-\($0)" } + [directory.path("photo.jpg")])
    return try read("photo.jpg")
  }

  /// What a JPEG shows. Nothing is turned and no profile honoured.
  func look(at jpeg: [UInt8]) throws -> Scene {
    let pnm = try pixels(of: jpeg, ["-rgb"])
    let fields = pnm.split(separator: UInt8(ascii: "\n"), maxSplits: 3, omittingEmptySubsequences: false)
    let size = String(decoding: fields[1], as: UTF8.self).split(separator: " ").compactMap { Int($0) }
    try #require(fields.count == 4 && size.count == 2)
    var scene = Scene(width: 0, height: 0) { _, _ in (0, 0, 0) }
    (scene.width, scene.height, scene.rgb) = (size[0], size[1], Array(fields[3]))
    try #require(scene.rgb.count == 3 * scene.width * scene.height)
    return scene
  }

  /// A JPEG decoded by djpeg, as a portable pixmap: P5 when it is grey, P6 when it has colours.
  func pixels(of jpeg: [UInt8], _ options: [String] = []) throws -> [UInt8] {
    try write(jpeg)
    let files = ["-outfile", directory.path("pixels"), directory.path("photo.jpg")]
    let result = try run(["djpeg", "-strict", "-dct", "int"] + options + ["-pnm"] + files)
    try #require(result.status == 0, "\(result.errors)")
    return try read("pixels")
  }

  /// All that exiftool finds beside the picture: groups and names, without what it says of the file itself.
  func metadata(of jpeg: [UInt8]) throws -> [String] {
    try write(jpeg)
    let uninteresting = ["--File:all", "--System:all", "--ExifTool:all", "--Composite:all"]
    let result = try run(
      ["exiftool", "-a", "-u", "-G1", "-s", "-ee3"] + uninteresting + [directory.path("photo.jpg")])
    try #require(result.status == 0, "\(result.errors)")
    return result.output.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("[JFIF]") }
  }

  private func tool(_ arguments: [String]) throws {
    let result = try run(arguments)
    try #require(result.status == 0, "\(arguments.joined(separator: " ")): \(result.errors)")
  }

  private func write(_ jpeg: [UInt8]) throws {
    try Data(jpeg).write(to: URL(fileURLWithPath: directory.path("photo.jpg")))
  }

  private func read(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: directory.path(name))))
  }
}
