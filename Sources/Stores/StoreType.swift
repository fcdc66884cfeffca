import Blocking
import DurableFiles
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
  func store(_ name: String, in surroundings: DestinationSurroundings) throws -> any Store
}

/// The resources of the program for a store or a network.
package struct DestinationSurroundings: Sendable {
  /// The path of the spool's directory for objects.
  package let objects: String
  /// The spool's directories for published messages and for the daemon's state.
  package let published: Directory
  package let state: Directory
  package let client: HTTPClient
  package let limits: HTTPLimits
  /// The path of a program that comes with photospool.
  package let program: @Sendable (String) -> String
  /// Logs a line of a network's process or of a listener.
  package let log: @Sendable (String) -> Void

  package init(
    objects: String, published: Directory, state: Directory, client: HTTPClient, limits: HTTPLimits,
    program: @escaping @Sendable (String) -> String, log: @escaping @Sendable (String) -> Void
  ) {
    self.objects = objects
    self.published = published
    self.state = state
    self.client = client
    self.limits = limits
    self.program = program
    self.log = log
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
