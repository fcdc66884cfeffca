import Messages
import Seals
import Secrets
import SettingKit

package struct ExecNetworkType: NetworkType {
  package static let word = "exec"
  package static let remembersMessages = true
  package static let publishesIntoSpool = false
  package static let keepsAccountInSpool = false
  package static let profilePhotos = ProfilePhotos.sealed
  package static let address = SettingKind<Address>.identifier
  package static let canListen = false

  /// An absolute path.
  package let program: String
  package let timeout: Duration

  package struct Section: SettingsSection {
    var program: String?
    var timeout = Duration.seconds(60)

    package init() {}

    package static let rows: [Setting<Section>] = [
      Setting(
        "program", \.program, .optional(.program), "The program that publishes a message, or the XMTP co-process"),
      Setting(
        "timeout", \.timeout, .duration(.seconds(1) ... .hours(1)), "How long the program may take for a message"),
    ]
  }

  package var secrets: [SecretSource] { [] }
  package var isPlain: Bool { false }
  package var isElsewhere: Bool { false }

  package func privacy(sealedWith seal: SealKind) -> String { "photos are sealed, and the receiver gets the keys" }

  package func network(_ name: String, in surroundings: NetworkSurroundings) throws -> any Network {
    var options = ExecOptions(program: program)
    options.timeLimit = timeout / .seconds(1)
    return try ExecNetwork(name: name, options)
  }

  package func listener(
    to network: any Network, _ conversations: HeardConversations, in surroundings: NetworkSurroundings
  ) throws -> (any Listener)? { nil }
}

extension ExecNetworkType {
  package init?(_ section: Section, _ check: SectionCheck) {
    guard let program = check.need("program", section.program) else { return nil }
    self.init(program: program, timeout: section.timeout)
  }
}
