import Foundation
import TestSupport
import Testing

/// Makes photographs with the distribution's tools, and inspects results.
struct Camera {
  let directory: TemporaryDirectory

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
    let (pnm, jpeg) = (try store(scene, as: "scene.ppm"), directory.path("photo.jpg"))
    var options = options
    if let profile {
      options += ["-icc", try store(profile, as: "profile.icc")]
    }
    try tool(["cjpeg"] + options + ["-outfile", jpeg, pnm])
    if !tags.isEmpty { try tool(["exiftool", "-q", "-n", "-overwrite_original"] + tags.map { "-\($0)" } + [jpeg]) }
    return try read("photo.jpg")
  }

  /// A JPEG of the scene by ImageMagick, for what cjpeg cannot write.
  func develop(_ scene: Scene, _ options: [String]) throws -> [UInt8] {
    try convert([store(scene, as: "scene.ppm")] + options, to: "jpeg:photo.jpg")
  }

  func tag(_ jpeg: [UInt8], _ tags: [String]) throws -> [UInt8] {
    let path = try store(jpeg, as: "photo.jpg")
    try tool(["exiftool", "-q", "-n", "-overwrite_original"] + tags.map { "-\($0)" } + [path])
    return try read("photo.jpg")
  }

  /// The pixels of a JPEG, without orientation and profile.
  func look(at jpeg: [UInt8]) throws -> Scene {
    try Scene(pixmap: pixels(of: jpeg, ["-rgb"]))
  }

  /// A JPEG decoded by djpeg, as a portable pixmap: P5 if grey, P6 otherwise.
  func pixels(of jpeg: [UInt8], _ options: [String] = []) throws -> [UInt8] {
    let files = ["-outfile", directory.path("pixels"), try store(jpeg, as: "photo.jpg")]
    let result = try run(["djpeg", "-strict", "-dct", "int"] + options + ["-pnm"] + files)
    try #require(result.status == 0, "\(result.errors)")
    return try read("pixels")
  }

  /// The metadata that exiftool finds: groups and names, without those of the file itself.
  func metadata(of jpeg: [UInt8]) throws -> [String] {
    try metadata(of: [jpeg])
  }

  /// The same for several JPEGs at once, which is much faster.
  func metadata(of jpegs: [[UInt8]]) throws -> [String] {
    let paths = try jpegs.indices.map { try store(jpegs[$0], as: "photo-\($0).jpg") }
    // Excludes facts of the file itself; a comment would be among them.
    let uninteresting = ["--File:all", "--System:all", "--ExifTool:all", "--Composite:all"]
    let result = try run(
      ["exiftool", "-q", "-a", "-u", "-G1", "-s", "-ee3"] + uninteresting + ["-File:Comment"] + paths)
    try #require(result.status == 0, "\(result.errors)")
    return result.output.split(separator: "\n").map(String.init)
      .filter { !$0.hasPrefix("[JFIF]") && !$0.hasPrefix("========") }
  }

  func tool(_ arguments: [String]) throws {
    let result = try run(arguments)
    try #require(result.status == 0, "\(arguments.joined(separator: " ")): \(result.errors)")
  }

  /// Writes a file and returns its path.
  @discardableResult func store(_ bytes: [UInt8], as name: String) throws -> String {
    try Data(bytes).write(to: URL(fileURLWithPath: directory.path(name)))
    return directory.path(name)
  }

  /// Writes a scene as a portable pixmap.
  @discardableResult func store(_ scene: Scene, as name: String) throws -> String {
    try store(Array("P6\n\(scene.width) \(scene.height)\n255\n".utf8) + scene.rgb, as: name)
  }

  func read(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: directory.path(name))))
  }

  /// The output of ImageMagick.
  ///
  /// - Parameter name: the file's name, after the format and a colon.
  @discardableResult func convert(_ arguments: [String], to name: String) throws -> [UInt8] {
    let parts = name.split(separator: ":")
    try tool(["convert-im6.q16"] + arguments + ["\(parts[0]):\(directory.path(String(parts[1])))"])
    return try read(String(parts[1]))
  }
}
