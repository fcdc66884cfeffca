import Messages
import Seals
import Secrets
import SettingKit
import Stores

package struct ExecNetworkType: NetworkType {
  package static let word = "exec"
  package static let remembersMessages = true
  package static let publishesIntoSpool = false
  package static let keepsAccountInSpool = false
  package static let profilePhotos = ProfilePhotos.sealed
  package static let address = SettingKind<Address>.identifier

  /// An absolute path.
  var program = ""
  /// For one message.
  var timeout = Duration.seconds(60)

  package init() {}

  package static let rows: [Setting<ExecNetworkType>] = [
    Setting(
      "program", \.program, .orEmpty(.program), "The program that publishes a message, or the XMTP co-process"),
    Setting(
      "timeout", \.timeout, .duration(.seconds(1) ... .hours(1)), "How long the program may take for a message"),
  ]

  package func isComplete(_ check: SectionCheck) -> Bool { check.has("program", program) }

  package var secrets: [SecretSource] { [] }
  package var isPlain: Bool { false }
  package var isElsewhere: Bool { false }

  package func privacy(sealedWith seal: SealKind) -> String { "photos are sealed, and the receiver gets the keys" }

  package func network(_ name: String, in surroundings: DestinationSurroundings) throws -> any Network {
    try ExecNetwork(name: name, program: program, timeout: timeout)
  }
}
