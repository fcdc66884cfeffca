import Messages
import Seals
import SettingKit
import Stores

/// A type of network with its settings. `AllNetworks` lists the types. Nothing here has a default, so the compiler asks
/// a new type for each answer.
package protocol NetworkType: DestinationType {
  /// Whether it accepts a message once by our own id, or can be asked for it without the ledger. Otherwise `photospool
  /// rebuild` holds conversations whose first message may be published.
  static var remembersMessages: Bool { get }

  /// Whether it publishes into files in `published/`, which a purge removes.
  static var publishesIntoSpool: Bool { get }

  /// Whether its account is stored in the spool. Then it cannot be checked before the first run.
  static var keepsAccountInSpool: Bool { get }

  static var profilePhotos: ProfilePhotos { get }

  /// The form of a conversation's name on the network: that of `as` in a route.
  static var address: SettingKind<Address> { get }

  /// Names who can read photos sealed with `seal`, as part of a sentence of `photospool check`.
  func privacy(sealedWith seal: SealKind) -> String

  /// Whether its receivers are on other computers, where they cannot open photos of a local store.
  var isElsewhere: Bool { get }

  /// Makes the network and reads its secrets.
  ///
  /// - Parameter name: its name in the configuration, the log and the ledger.
  func network(_ name: String, in surroundings: DestinationSurroundings) throws -> any Network
}

/// A type of network that can receive photos.
package protocol ListeningNetworkType: NetworkType {
  /// Makes the listener of a network.
  ///
  /// - Parameter network: the one made from the same settings.
  func listener(
    to network: any Network, _ conversations: HeardConversations, in surroundings: DestinationSurroundings
  ) throws -> (any Listener)?
}

/// How a type of network handles profile photos.
package enum ProfilePhotos: Sendable, Equatable {
  /// One for each group, sealed for its members. `profile.conversation` names the group.
  case perGroup
  /// Sealed and stored like photos.
  case sealed
  /// Visible to everybody: not sealed, and in a store of this type.
  case open(store: String)
  /// It has no place for them, and rejects them.
  case rejected
}
