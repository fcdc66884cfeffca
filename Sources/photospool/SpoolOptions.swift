import ArgumentParser
import DurableFiles
import Foundation
import Ledgers
import Settings
import Spooling

/// The options that every command takes.
struct SpoolOptions: ParsableArguments {
  @Option(
    name: .long, help: "The spool directory. (default: $PHOTOSPOOL_SPOOL, else the configuration's, else ./spool)",
    completion: .directory)
  var spool: String?

  @Option(
    name: .long, help: "The configuration file. (default: $PHOTOSPOOL_CONFIG, else the first that is found)",
    completion: .file(extensions: ["yaml", "yml"]))
  var config: String?

  /// The configuration in force.
  func settings() throws -> Settings {
    var environment = ProcessInfo.processInfo.environment
    let (file, isExplicit) = SettingsLocation.choose(flag: config, environment: environment)
    var flags = [String: String]()
    if let spool = spool ?? environment["PHOTOSPOOL_SPOOL"] { flags["spool.directory"] = spool }
    environment["PHOTOSPOOL_SPOOL"] = nil
    return try Settings.load(file: file, fileIsExplicit: isExplicit, environment: environment, flags: flags)
  }

  /// The path of the spool.
  func path() throws -> String { try settings().spool.directory }

  /// The spool, which has to be there.
  func openSpool() throws -> Spool { try Spool(opening: path()) }
}
