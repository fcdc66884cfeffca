import Foundation

/// The programs that photospool starts.
package enum Programs {
  /// The path of a program beside photospool, or in the place of packages; the expected path if it is in neither.
  package static func path(of name: String) -> String {
    let this = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let beside = this.deletingLastPathComponent()
    let candidates = [beside, beside.deletingLastPathComponent().appendingPathComponent("libexec/photospool")]
      .map { $0.appendingPathComponent(name).path }
    return candidates.first { FileManager.default.fileExists(atPath: $0) } ?? candidates[0]
  }
}
