import Foundation
import Spooling

/// A temporary spool, deleted with its last reference.
package final class ScratchSpool {
  package let spool: Spool

  package init() throws {
    let directory = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
    spool = try Spool(creating: directory.appendingPathComponent("photospool-\(UUID().uuidString)").path)
  }

  deinit { try? FileManager.default.removeItem(atPath: spool.path) }
}
