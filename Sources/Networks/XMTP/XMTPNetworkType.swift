import Messages
import Seals
import Secrets
import SettingKit

/// `type: xmtp`.
package struct XMTPNetworkType: NetworkType {
  package static let word = "xmtp"
  /// Messages have ids that only the ledger knows.
  package static let remembersMessages = false
  package static let publishesIntoSpool = false
  package static let keepsAccountInSpool = true
  package static let profilePhotos = ProfilePhotos.perGroup
  package static let address = SettingKind<Address>(
    expects: "`group:ID`, `dm:INBOX-ID` or `dm:0xADDRESS`, each in hexadecimal digits",
    parse: {
      $0.wholeMatch(of: /(group:([0-9a-f]{2}){1,64}|dm:[0-9a-f]{64}|dm:0x[0-9a-f]{40})/.ignoresCase()) == nil
        ? nil : Address(unchecked: $0)
    }, show: \.text)
  package static let canListen = true

  /// `HOST:PORT`.
  package let endpoint: String
  package let isInsecure: Bool
  /// The file with the account's private key, which only the co-process reads.
  package let keyFile: String
  /// The absolute path of the co-process; nil means the one beside photospool.
  package let program: String?
  /// The absolute path of its Python; nil means /usr/bin/python3.
  package let python: String?

  package struct Section: SettingsSection {
    var endpoint: String?
    var insecure = false
    var keyFile: String?
    var program: String?
    var python: String?

    package init() {}

    package static let rows: [Setting<Section>] = [
      Setting(
        "program", \.program, .optional(.program), "The program that publishes a message, or the XMTP co-process"),
      Setting("endpoint", \.endpoint, .optional(.hostAndPort), "Host and port of the XMTP node"),
      Setting("insecure", \.insecure, .flag, "Whether the XMTP node is spoken to without TLS"),
      Setting("keyFile", \.keyFile, .optional(.file), "The file with the private key of the XMTP account"),
      Setting(
        "python", \.python, .optional(.program),
        "The Python that runs the XMTP co-process; empty is the co-process's own choice"),
    ]
  }

  package var secrets: [SecretSource] { [] }
  package var isPlain: Bool { isInsecure }
  package var isElsewhere: Bool { false }

  package func privacy(sealedWith seal: SealKind) -> String { "photos are sealed with \(seal.rawValue)" }

  package func network(_ name: String, in surroundings: NetworkSurroundings) throws -> any Network {
    var options = XMTPNetwork.Options(
      program: program ?? surroundings.program("photospool-xmtp.py"),
      state: surroundings.state.path(of: "xmtp-\(name)"),
      key: keyFile, endpoint: endpoint)
    options.usesTLS = !isInsecure
    if let python { options.python = python }
    return XMTPNetwork(name: name, options, log: surroundings.log)
  }

  /// It listens through the co-process that publishes.
  package func listener(
    to network: any Network, _ conversations: HeardConversations, in surroundings: NetworkSurroundings
  ) throws -> (any Listener)? {
    (network as? XMTPNetwork).map { XMTPListener($0, conversations: conversations) }
  }
}

extension XMTPNetworkType {
  package init?(_ section: Section, _ check: SectionCheck) {
    let endpoint = check.need("endpoint", section.endpoint)
    let keyFile = check.need("keyFile", section.keyFile)
    guard let endpoint, let keyFile else { return nil }
    self.init(
      endpoint: endpoint, isInsecure: section.insecure, keyFile: keyFile, program: section.program,
      python: section.python)
  }
}
