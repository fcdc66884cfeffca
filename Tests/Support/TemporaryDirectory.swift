import Foundation

/// A directory of one test's own, removed with its last reference.
public final class TemporaryDirectory: Sendable {
  public let path: String

  public init() throws {
    let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    path = "\(base)/photospool-test-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of `name` below the directory.
  public func path(_ name: String) -> String { "\(path)/\(name)" }
}
