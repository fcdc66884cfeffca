import Glibc
import Messages
import Seals
import Secrets
import SettingKit
import Stores

/// `type: xmtp`.
package struct XMTPNetworkType: ListeningNetworkType {
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

  /// `HOST:PORT`.
  var endpoint = ""
  /// Whether it is spoken to without TLS.
  var insecure = false
  /// The file with the private key of the Ethereum account, readable by its owner only. Only the co-process reads it.
  var keyFile = ""
  /// The absolute path of the co-process; nil means the one beside photospool.
  var program: String?
  /// The absolute path of a Python 3.11 with the package `xmtp-bindings`; nil means /usr/bin/python3.
  var python: String?

  package init() {}

  package static let rows: [Setting<XMTPNetworkType>] = [
    Setting(
      "program", \.program, .optional(.program), "The program that publishes a message, or the XMTP co-process"),
    Setting("endpoint", \.endpoint, .orEmpty(.hostAndPort), "Host and port of the XMTP node"),
    Setting("insecure", \.insecure, .flag, "Whether the XMTP node is spoken to without TLS"),
    Setting(
      "keyFile", \.keyFile, .orEmpty(.file),
      "The file with the XMTP account's private key, or a service account's key file"),
    Setting(
      "python", \.python, .optional(.program),
      "The Python that runs the XMTP co-process; empty is /usr/bin/python3"),
  ]

  package func isComplete(_ check: SectionCheck) -> Bool {
    [check.has("endpoint", endpoint), check.has("keyFile", keyFile)].allSatisfy(\.self)
  }

  package var secrets: [SecretSource] { [] }
  package var isPlain: Bool { insecure }
  package var isElsewhere: Bool { false }

  package func privacy(sealedWith seal: SealKind) -> String { "photos are sealed with \(seal.rawValue)" }

  package func network(_ name: String, in surroundings: DestinationSurroundings) throws -> any Network {
    XMTPNetwork(
      name: name, endpoint: endpoint,
      coProcess(surroundings.program("photospool-xmtp.py"), state: surroundings.state.path(of: "xmtp-\(name)")),
      log: surroundings.log)
  }

  /// It listens through the co-process that publishes.
  package func listener(
    to network: any Network, _ conversations: HeardConversations, in surroundings: DestinationSurroundings
  ) throws -> (any Listener)? {
    (network as? XMTPNetwork).map { XMTPListener($0, conversations: conversations) }
  }
}

extension XMTPNetworkType {
  /// The co-process, with no variables of ours but the place of certificates. Secrets are in the key file, not in
  /// arguments or environment.
  ///
  /// - Parameters:
  ///   - own: the path of the one beside photospool.
  ///   - state: the directory of libxmtp's database, made if missing.
  ///   - seconds: the time limit of a request.
  func coProcess(_ own: String, state: String, seconds: Int = 45) -> CoProcessProgram {
    var arguments = ["-I", "-B", "-X", "utf8", program ?? own]
    arguments += ["--state", state, "--key", keyFile, "--endpoint", endpoint, "--seconds", String(seconds)]
    if insecure { arguments.append("--plaintext") }
    return CoProcessProgram(
      name: "photospool-xmtp", path: python ?? "/usr/bin/python3", arguments: arguments,
      environment: Self.environment,
      // It answers by itself at its time limit; later it hangs.
      answerSeconds: Double(seconds) + 15)
  }

  private static var environment: [String] {
    let names = ["SSL_CERT_FILE", "SSL_CERT_DIR"]
    return names.compactMap { name in getenv(name).map { "\(name)=\(String(cString: $0))" } }
  }
}
