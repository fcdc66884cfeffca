import ArgumentParser
import Composition
import DurableFiles
import Foundation
import Messages
import SettingKit
import Settings
import Spooling

struct SpoolOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The spool directory. (default: $PHOTOSPOOL_SPOOL, else the configuration's, else ./spool)",
      valueName: "directory"),
    completion: .directory)
  var spool: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The configuration file. (default: $PHOTOSPOOL_CONFIG, else the first that is found)", valueName: "file"),
    completion: .file(extensions: ["yaml", "yml"]))
  var config: String?

  /// The user that root changes to.
  enum User {
    case owner
    /// The configured user, or else the owner of the spool.
    case configured
    /// No change, for commands without a spool.
    case root
  }

  /// The configuration, read as the spool's user if root has changed to that user.
  func settings(as user: User = .owner) throws -> Settings {
    let settings = try load()
    let path = settings.spool.directory
    let hasChanged =
      switch (user, settings.spool.user) {
      case (.root, _): false
      case (.configured, let name?): try SpoolUser.become(name, spool: path)
      default: try SpoolUser.become(ownerOf: path)
      }
    if !hasChanged { return settings }
    do { return try load() } catch {
      Terminal.complain("root works on this spool as \(SpoolUser.name), who must be able to read the configuration")
      throw error
    }
  }

  /// The configuration, and the existing spool that it names.
  func configured() throws -> (settings: Settings, spool: Spool) {
    let settings = try settings()
    return (settings, try Spool(opening: settings.spool.directory))
  }

  private func load() throws -> Settings {
    var environment = ProcessInfo.processInfo.environment
    let (file, isExplicit) = SettingsLocation.choose(flag: config, environment: environment)
    var flags = [String: String]()
    if let spool {
      flags["spool.directory"] = spool
      environment["PHOTOSPOOL_SPOOL"] = nil
    }
    return try Settings.load(file: file, fileIsExplicit: isExplicit, environment: environment, flags: flags)
  }

  /// The spool named by the caller, which overrides the configuration.
  private var named: String? { spool ?? ProcessInfo.processInfo.environment["PHOTOSPOOL_SPOOL"] }

  /// The path of the spool; root becomes its owner. If the caller names the spool, only an explicit configuration is
  /// read: clients need nothing else from it, and reading it takes time.
  ///
  /// - Parameter complains: whether to report an error in a configuration that does not matter here.
  func path(complains: Bool = true) throws -> String {
    let path = try givenPath(complains: complains)
    _ = try SpoolUser.become(ownerOf: path)
    return path
  }

  private func givenPath(complains: Bool) throws -> String {
    let isAsked = config != nil || ProcessInfo.processInfo.environment["PHOTOSPOOL_CONFIG"] != nil
    let named = named.flatMap { $0.isEmpty ? nil : $0 }
    if !isAsked, let named { return named }
    do { return try settings().spool.directory } catch let error as SettingsError {
      guard let path = named ?? error.spool else { throw error }
      if complains {
        Terminal.complain("\(error)\ncorrect the configuration; this command uses the spool \(path)")
      }
      return path
    }
  }

  /// As `openSpool`, for following requests.
  func openToFollow(complains: Bool = true) throws -> Spool {
    do { return try openSpool(complains: complains) } catch let error as FileError where error.isForbidden {
      throw Failure(
        .noPermission,
        "only the user that photospool runs as may follow requests (\(error)); `send` without --wait drops one, and that user may `wait` and `show`"
      )
    }
  }

  /// The existing spool.
  func openSpool(complains: Bool = true) throws -> Spool {
    let path = try path(complains: complains)
    do { return try Spool(opening: path) } catch let error as FileError where error.isMissing {
      throw Failure(
        .noInput,
        "there is no spool at \(escaped(path)) (\(error)); name another with --spool, or start `photospool run`, which makes it"
      )
    }
  }
}
