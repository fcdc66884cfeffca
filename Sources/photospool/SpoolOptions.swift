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
    if let named { flags["spool.directory"] = named }
    environment["PHOTOSPOOL_SPOOL"] = nil
    return try Settings.load(file: file, fileIsExplicit: isExplicit, environment: environment, flags: flags)
  }

  /// The spool that the caller names, whatever the configuration says.
  private var named: String? { spool ?? ProcessInfo.processInfo.environment["PHOTOSPOOL_SPOOL"] }

  /// The path of the spool. Where the caller names it, the configuration is not read: nothing else in it concerns who only
  /// looks into a spool, and to read it takes longer than the look. One that is asked for has to be in order all the same.
  func path() throws -> String {
    let isAsked = config != nil || ProcessInfo.processInfo.environment["PHOTOSPOOL_CONFIG"] != nil
    if !isAsked, let named, !named.isEmpty { return named }
    return try settings().spool.directory
  }

  /// The spool, which has to be there.
  func openSpool() throws -> Spool {
    let path = try path()
    do { return try Spool(opening: path) } catch let error as FileError where error.isMissing {
      throw Failure(
        .noInput,
        "there is no spool at \(escaped(path)) (\(error)); name another with --spool, or start `photospool run`, which makes it"
      )
    }
  }
}
