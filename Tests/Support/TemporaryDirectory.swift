import Foundation

/// A directory for one test, removed with its last reference.
package final class TemporaryDirectory: Sendable {
  package let path: String

  package init() throws {
    let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    path = "\(base)/photospool-test-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  package func path(_ name: String) -> String { "\(path)/\(name)" }
}
