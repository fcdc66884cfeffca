import DurableFiles
import Foundation
import Messages
import Settings
import Spooling

extension CheckCommand {
  /// Checks of profile photos and hooks.
  static func furtherChecks(_ settings: Settings) -> [(String, () async throws -> String)] {
    let hooks = HookEvent.allCases.compactMap { event -> (String, () async throws -> String)? in
      guard let program = settings.hooks.programs[event] else { return nil }
      return ("hook \(event.rawValue)", { try checkProgram(program) })
    }
    let path = settings.spool.directory
    // Before the first run there is nothing to share.
    let sharing: [(String, () async throws -> String)] =
      access(path, F_OK) == 0 ? [("requests of other users", { try Self.sharing(Spool(opening: path)) })] : []
    return [("profile photos", { try profile(settings) })] + sharing + hooks
  }

  /// Checks that the daemon can read what other users of the group build.
  private static func sharing(_ spool: Spool) throws -> String {
    do {
      guard let directory = try spool.firstWithoutAccess() else { return "taken, whatever their umask" }
      throw Failure(
        .configuration,
        "\(directory.path) has no default ACL that gives photospool what others build there; start the daemon again as the owner of \(directory.path), which sets it"
      )
    } catch let error as FileError where error.code == EOPNOTSUPP {
      return "only those built with `umask 007` or `photospool send` are taken, as this file system keeps no ACLs"
    }
  }

  private static func profile(_ settings: Settings) throws -> String {
    guard let network = settings.profileNetwork else { return "none" }
    switch type(of: network.type).profilePhotos {
    case .perGroup:
      guard let group = settings.profile.conversation else {
        return "none, as the network \(network.name) has one for each group; `profile.conversation` can name a group"
      }
      return "in the conversation \(escaped(group.text)) on the network \(network.name), for its members"
    case .sealed: return "on the network \(network.name)"
    case .open(let word):
      guard let store = settings.stores.first(where: { $0.name == network.store }), type(of: store.type).word == word
      else { return "none, as avatars on the network \(network.name) have to be in a store of type \(word)" }
      return "on the network \(network.name), NOT sealed: everybody can see avatars"
    }
  }

  private static func checkProgram(_ path: String) throws -> String {
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), !isDirectory.boolValue,
      access(path, X_OK) == 0
    else {
      throw Failure(.configuration, "\(path) cannot be run; install it, or make it executable")
    }
    return "runs \(path)"
  }
}
