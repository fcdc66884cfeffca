import Blocking
import HTTP
import Seals
import SettingKit

/// A type of store, with the settings of one that is configured. `AllStores` lists the types.
///
/// Nothing here has a default, so that the compiler asks a new type for each answer.
package protocol StoreType: DestinationType {
  /// Who can carry the URLs of its photos, where they are of a scheme of its own; nil where every network can.
  static var ownURLs: OwnURLs? { get }

  /// Whether only programs of this computer can open the URLs of its photos.
  var isOnlyHere: Bool { get }

  /// Makes the store. Secrets are read at that moment.
  ///
  /// - Parameter name: the store's name in the configuration, the log and the ledger.
  func store(_ name: String, in surroundings: StoreSurroundings) throws -> any Store
}

/// Everything that a store may need of the program that makes it.
package struct StoreSurroundings: Sendable {
  /// The path of the spool's own directory for objects.
  package let objects: String
  package let client: HTTPClient
  package let limits: HTTPLimits

  package init(objects: String, client: HTTPClient, limits: HTTPLimits) {
    self.objects = objects
    self.client = client
    self.limits = limits
  }
}

/// URLs that not every network and seal can carry.
package struct OwnURLs: Sendable {
  /// As a sentence has it: `mxc://`.
  package let scheme: String
  /// The word of the only type of network that can carry them.
  package let network: String
  /// The seals that can carry them, the recommended one first.
  package let seals: [SealKind]

  package init(scheme: String, network: String, seals: [SealKind]) {
    self.scheme = scheme
    self.network = network
    self.seals = seals
  }
}

extension BlockingPool {
  /// Threads of a destination's own, so that a directory which hangs holds up nobody else.
  package static func ofDestination(_ name: String) -> BlockingPool { BlockingPool(label: name, threads: 8) }
}
