import HTTP
import Messages
import Seals
import Secrets
import SettingKit
import Stores

package struct WebhookNetworkType: NetworkType {
  package static let word = "webhook"
  package static let remembersMessages = true
  package static let publishesIntoSpool = false
  package static let keepsAccountInSpool = false
  package static let profilePhotos = ProfilePhotos.sealed
  package static let address = SettingKind<Address>.identifier

  /// `https://`, or `http://` to this computer or if private addresses are allowed.
  var url = ""
  /// One or more `whsec_` secrets, separated by blanks.
  var secret = SecretSetting()
  /// Whether the URL may lead to a private network.
  var allowPrivate = false

  package init() {}

  package static let rows: [Setting<WebhookNetworkType>] =
    [
      Setting(
        "url", \.url, .orEmpty(.webURL("https://hooks.example.org/photos")), "The URL that messages are posted to")
    ] + Setting.secret("secret", \.secret, "the whsec_ secret that signs", more: "; several are separated by blanks")
    + [
      Setting(
        "allowPrivate", \.allowPrivate, .flag,
        "Whether the URL may lead into a private network, and be plain http://")
    ]

  package func isComplete(_ check: SectionCheck) -> Bool {
    [check.has("url", url) && isSafe(check), check.has("secret", secret)].allSatisfy(\.self)
  }

  /// Whether no message leaves this computer unencrypted; otherwise reports that.
  private func isSafe(_ check: SectionCheck) -> Bool {
    guard isPlain, isElsewhere, !allowPrivate else { return true }
    check.complain(
      about: "url",
      "`\(check.path).url` has to begin with `https://`; plain `http://` goes only to this computer, "
        + "or anywhere with `allowPrivate: true`")
    return false
  }

  package var secrets: [SecretSource] { [secret.source].compactMap(\.self) }
  package var isPlain: Bool { SettingKit.isPlain(url) }
  package var isElsewhere: Bool { HTTPAddress(url).map { !$0.isThisComputer } ?? false }

  package func privacy(sealedWith seal: SealKind) -> String { "photos are sealed, and the receiver gets the keys" }

  package func network(_ name: String, in surroundings: DestinationSurroundings) throws -> any Network {
    try WebhookNetwork(
      name: name, url: url, secrets: try loadSecrets(), rereadSecrets: loadSecrets,
      allowsPrivateAddresses: allowPrivate, client: surroundings.client)
  }

  @Sendable private func loadSecrets() throws -> [Secret] {
    try secret.load().reveal().split(separator: " ").map { Secret(String($0)) }
  }
}
