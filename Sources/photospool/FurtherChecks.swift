import Foundation
import Settings

extension CheckCommand {
  /// Where profile photos go, and the programs of the hooks.
  static func furtherChecks(_ settings: Settings) -> [(String, () async throws -> String)] {
    let programs = [
      ("sent", settings.hooks.sent), ("failed", settings.hooks.failed), ("received", settings.hooks.received),
    ]
    let hooks = programs.compactMap { event, program -> (String, () async throws -> String)? in
      guard let program else { return nil }
      return ("hook \(event)", { try checkProgram(program) })
    }
    return [("profile photos", { try profile(settings) })] + hooks
  }

  private static func profile(_ settings: Settings) throws -> String {
    let name = settings.profile.network ?? settings.networks.first?.name
    guard let network = settings.networks.first(where: { $0.name == name }) else { return "none" }
    switch network.kind {
    case .xmtp: return "none, as the network \(network.name) has none; `profile.network` can name another one"
    case .local, .webhook, .exec: return "on the network \(network.name)"
    case .matrix:
      let store = settings.stores.first { $0.name == network.store }
      guard case .matrix = store?.kind else {
        return "none, as avatars on the network \(network.name) have to be in a store of type matrix"
      }
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
