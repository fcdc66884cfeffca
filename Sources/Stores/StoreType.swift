import Blocking
import HTTP
import Seals
import SettingKit

/// A type of store with its settings. `AllStores` lists the types. Nothing here has a default, so the compiler asks a
/// new type for each answer.
package protocol StoreType: DestinationType {
  /// The networks and seals that support its URLs, if they have their own scheme; nil means all.
  static var ownURLs: OwnURLs? { get }

  /// Whether only programs on this computer can open its URLs.
  var isOnlyHere: Bool { get }

  /// Makes the store and reads its secrets.
  ///
  /// - Parameter name: its name in the configuration, the log and the ledger.
  func store(_ name: String, in surroundings: StoreSurroundings) throws -> any Store
}

/// The resources of the program for a store.
package struct StoreSurroundings: Sendable {
  /// The path of the spool's directory for objects.
  package let objects: String
  package let client: HTTPClient
  package let limits: HTTPLimits

  package init(objects: String, client: HTTPClient, limits: HTTPLimits) {
    self.objects = objects
    self.client = client
    self.limits = limits
  }
}

/// URLs that only some networks and seals support.
package struct OwnURLs: Sendable {
  /// For sentences: `mxc://`.
  package let scheme: String
  /// The only type of network that supports them.
  package let network: String
  /// The seals that support them, the recommended one first.
  package let seals: [SealKind]
}

extension BlockingPool {
  /// Threads for one destination, so that a directory that hangs delays no other.
  package static func ofDestination(_ name: String) -> BlockingPool { BlockingPool(label: name, threads: 8) }
}
