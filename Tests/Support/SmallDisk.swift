import Foundation

/// A small filesystem for one test: 256 KiB of memory. Mounting needs root.
package enum SmallDisk {
  /// Whether tests may mount here.
  package static let isAllowed: Bool = {
    guard let scratch = try? TemporaryDirectory(), (try? mount(scratch.path)) != nil else { return false }
    unmount(scratch.path)
    return true
  }()

  package static func use(_ body: (String) async throws -> Void) async throws {
    let scratch = try TemporaryDirectory()
    try mount(scratch.path)
    defer { unmount(scratch.path) }
    try await body(scratch.path)
  }

  private static func mount(_ path: String) throws {
    let result = try run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", path])
    guard result.status == 0 else { throw CocoaError(.fileWriteNoPermission) }
  }

  /// Lazily, because files there may still be open.
  private static func unmount(_ path: String) { _ = try? run(["umount", "-l", path]) }
}
