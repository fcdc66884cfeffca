import Foundation

/// Where photospool-darkroom is: beside this program, or where packages put programs that people do not start.
enum DarkroomProgram {
  static let path: String = {
    let this = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let beside = this.deletingLastPathComponent()
    let candidates = [beside, beside.deletingLastPathComponent().appendingPathComponent("libexec/photospool")]
      .map { $0.appendingPathComponent("photospool-darkroom").path }
    return candidates.first { FileManager.default.isExecutableFile(atPath: $0) } ?? candidates[0]
  }()
}
