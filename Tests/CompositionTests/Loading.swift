import Foundation
import Settings
import Spooling
import TestSupport

/// A spool, and configurations for it.
struct Scratch {
  let directory: TemporaryDirectory
  let spool: Spool

  init() throws {
    directory = try TemporaryDirectory()
    spool = try Spool(creating: directory.path("spool"))
  }

  func settings(_ text: String) throws -> Settings {
    let file = directory.path("photospool.yaml")
    try Data("spool:\n  directory: \(spool.path)\n\(text)".utf8).write(to: URL(fileURLWithPath: file))
    return try Settings.load(file: file, fileIsExplicit: true, environment: [:], flags: [:])
  }
}
