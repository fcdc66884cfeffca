import Foundation

/// The programs that photospool starts.
package enum Programs {
  /// The path of a program beside photospool, or in the place of packages; the expected path if it is in neither.
  package static func path(of name: String) -> String {
    // Read, not resolved: after an upgrade the running program has no file any more, but its directory is the same.
    let this = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let beside = URL(fileURLWithPath: this ?? CommandLine.arguments[0]).deletingLastPathComponent()
    let candidates = [beside, beside.deletingLastPathComponent().appendingPathComponent("libexec/photospool")]
      .map { $0.appendingPathComponent(name).path }
    return candidates.first { FileManager.default.fileExists(atPath: $0) } ?? candidates[0]
  }
}
