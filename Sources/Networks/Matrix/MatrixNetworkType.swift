import DurableFiles
import Matrix
import Messages
import Seals
import Secrets
import SettingKit
import Stores

package struct MatrixNetworkType: ListeningNetworkType {
  package static let word = "matrix"
  package static let remembersMessages = true
  package static let publishesIntoSpool = false
  package static let keepsAccountInSpool = false
  package static let profilePhotos = ProfilePhotos.open(store: "matrix")
  package static let address = SettingKind<Address>(
    expects: "a room's id (`!…`) or alias (`#…`)",
    parse: { text in "!#".contains { text.first == $0 } ? try? Address(text) : nil }, show: \.text)

  /// The homeserver's URL.
  var homeserver = ""
  var token = SecretSetting()
  /// Whether messages to encrypted rooms are encrypted.
  var encryption = Encryption.auto
  /// The key of an identity that another client made for the account.
  var recoveryKey = SecretSetting()
  var devices = MatrixKeyReceivers.crossSigned

  enum Encryption: String, CaseIterable, Sendable {
    /// As the room says.
    case auto
    /// Hold what is meant for encrypted rooms.
    case never
  }

  package init() {}

  package static let rows: [Setting<MatrixNetworkType>] =
    [
      Setting(
        "homeserver", \.homeserver, .orEmpty(.webURL("https://matrix.example.org")),
        "The URL of the Matrix homeserver")
    ] + Setting.secret("token", \.token, "the access token of the Matrix account")
    + [
      Setting("encryption", \.encryption, .word, "Whether messages to encrypted Matrix rooms are encrypted or held"),
      Setting("devices", \.devices, .word, "The devices that get the keys of encrypted Matrix rooms"),
    ]
    + Setting.secret("recoveryKey", \.recoveryKey, "the recovery key of a Matrix account that has an identity")

  package func isComplete(_ check: SectionCheck) -> Bool {
    [check.hasBase("homeserver", homeserver), check.has("token", token)].allSatisfy(\.self)
  }

  package var secrets: [SecretSource] { [token.source, recoveryKey.source].compactMap(\.self) }
  package var isPlain: Bool { SettingKit.isPlain(homeserver) }
  package var isElsewhere: Bool { false }

  package func privacy(sealedWith seal: SealKind) -> String {
    "photos are sealed; without encryption of the room the homeserver can read the keys; clients on matrix-nio then show "
      + "photos only with `seal: none`"
  }

  /// The account with its current token.
  package func account() throws -> MatrixAccount {
    MatrixAccount(homeserver: homeserver, token: try Renewable(reading: token.load))
  }

  package func network(_ name: String, in surroundings: DestinationSurroundings) throws -> any Network {
    try MatrixNetwork(
      name: name, account(), encryptedRooms: EncryptedRooms(in: surroundings.state),
      keys: keys(in: surroundings.state) { [log = surroundings.log] in log("\(name): \($0)") },
      client: surroundings.client, limits: surroundings.limits)
  }

  /// nil with `encryption: never`.
  private func keys(
    in state: Directory, log: @escaping @Sendable (String) -> Void
  ) throws -> MatrixKeySettings? {
    guard encryption == .auto else { return nil }
    let key = recoveryKey.source == nil ? nil : try Renewable(reading: recoveryKey.load)
    return MatrixKeySettings(state: state, recoveryKey: key, receivers: devices, log: log)
  }

  package func listener(
    to network: any Network, _ conversations: HeardConversations, in surroundings: DestinationSurroundings
  ) throws -> (any Listener)? {
    // One token for both: keys must be given out by the device that others send theirs to.
    let sender = network as? MatrixNetwork
    return try MatrixListener(
      name: network.name, sender?.account ?? account(), conversations: conversations,
      encryptedRooms: sender?.encryption.known ?? EncryptedRooms(), keys: sender?.roomKeys,
      client: surroundings.client, limits: surroundings.limits
    ) { [name = network.name, log = surroundings.log] in log("\(name): \($0)") }
  }
}
