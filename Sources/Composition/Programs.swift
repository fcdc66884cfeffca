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

  /// Runs a program to its end. Returns its output and exit status; nil if it cannot be started.
  ///
  /// - Parameter isSilent: whether its errors are dropped.
  static func output(
    of path: String, _ arguments: String..., isSilent: Bool = false
  ) -> (text: String, status: Int32)? {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    if isSilent { process.standardError = FileHandle.nullDevice }
    do { try process.run() } catch { return nil }
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (text, process.terminationStatus)
  }
}
