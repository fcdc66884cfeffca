import Foundation

/// The programs that photospool starts, and that people do not.
enum Programs {
  /// Where one is: beside photospool, or where packages put such programs. When it is in neither place, where it should
  /// be.
  static func path(of name: String) -> String {
    let this = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let beside = this.deletingLastPathComponent()
    let candidates = [beside, beside.deletingLastPathComponent().appendingPathComponent("libexec/photospool")]
      .map { $0.appendingPathComponent(name).path }
    return candidates.first { FileManager.default.fileExists(atPath: $0) } ?? candidates[0]
  }
}
