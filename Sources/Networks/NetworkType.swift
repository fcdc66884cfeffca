import DurableFiles
import HTTP
import Seals
import SettingKit
import Stores

/// A type of network, with the settings of one that is configured. `AllNetworks` lists the types.
///
/// Nothing here has a default, so that the compiler asks a new type for each answer.
package protocol NetworkType: DestinationType {
  /// Whether it takes a message once by our own id, or can be asked for one by what a spool without its ledger knows.
  /// Otherwise `photospool rebuild` holds conversations whose first message may be published.
  static var remembersMessages: Bool { get }

  /// Whether it publishes into the files of the spool's `published/`, which a purge removes.
  static var publishesIntoSpool: Bool { get }

  /// Whether its account is made with the spool that keeps it. Then there is nothing to check before the first run.
  static var keepsAccountInSpool: Bool { get }

  static var profilePhotos: ProfilePhotos { get }

  /// Whether photos that others send there can be received, so that `listener` makes one.
  static var canListen: Bool { get }

  /// Who can read the photos that are sealed with `seal`, as a part of a sentence of `photospool check`.
  func privacy(sealedWith seal: SealKind) -> String

  /// Whether the receivers are known to be on another computer, where they cannot open photos of a store that is only here.
  var isElsewhere: Bool { get }

  /// Makes the network. Secrets are read at that moment.
  ///
  /// - Parameter name: the network's name in the configuration, the log and the ledger.
  func network(_ name: String, in surroundings: NetworkSurroundings) throws -> any Network

  /// Makes the listener of a network; nil where `canListen` is false.
  ///
  /// - Parameter network: the one that `network` has made of the same settings.
  func listener(
    to network: any Network, _ conversations: HeardConversations, in surroundings: NetworkSurroundings
  ) throws -> (any Listener)?
}

/// How a type of network treats profile photos.
package enum ProfilePhotos: Sendable, Equatable {
  /// It has one for each group, sealed for its members. `profile.conversation` names the group.
  case perGroup
  /// They are sealed and stored like photos.
  case sealed
  /// Everybody can see them: they are not sealed, and have to be in a store of this type.
  case open(store: String)
}

/// Everything that a network may need of the program that makes it.
package struct NetworkSurroundings: Sendable {
  /// The spool's directories for what is published there, and for what the daemon keeps.
  package let published: Directory
  package let state: Directory
  package let client: HTTPClient
  package let limits: HTTPLimits
  /// Where a program of photospool's own is.
  package let program: @Sendable (String) -> String
  /// Is given what a network's own process says, and what a listener passes over, line by line.
  package let log: @Sendable (String) -> Void

  package init(
    published: Directory, state: Directory, client: HTTPClient, limits: HTTPLimits,
    program: @escaping @Sendable (String) -> String, log: @escaping @Sendable (String) -> Void
  ) {
    self.published = published
    self.state = state
    self.client = client
    self.limits = limits
    self.program = program
    self.log = log
  }
}
