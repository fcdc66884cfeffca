import Messages
import Seals
import Secrets
import SettingKit
import Stores

/// `type: local`: a file per conversation in the spool.
package struct LocalNetworkType: NetworkType {
  package static let word = "local"
  package static let remembersMessages = true
  package static let publishesIntoSpool = true
  package static let keepsAccountInSpool = false
  package static let profilePhotos = ProfilePhotos.sealed
  package static let address = SettingKind<Address>.identifier

  package init() {}
  package static let rows: [Setting<LocalNetworkType>] = []

  package func isComplete(_ check: SectionCheck) -> Bool { true }

  package var secrets: [SecretSource] { [] }
  package var isPlain: Bool { false }
  package var isElsewhere: Bool { false }

  package func privacy(sealedWith seal: SealKind) -> String { "photos are sealed with \(seal.rawValue)" }

  package func network(_ name: String, in surroundings: DestinationSurroundings) throws -> any Network {
    try LocalNetwork(name: name, directory: surroundings.published.path, pool: .ofDestination(name))
  }
}
