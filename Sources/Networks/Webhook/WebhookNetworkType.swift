import HTTP
import Messages
import Seals
import Secrets
import SettingKit

package struct WebhookNetworkType: NetworkType {
  package static let word = "webhook"
  package static let remembersMessages = true
  package static let publishesIntoSpool = false
  package static let keepsAccountInSpool = false
  package static let profilePhotos = ProfilePhotos.sealed
  package static let address = SettingKind<Address>.identifier
  package static let canListen = false

  /// `https://`, or `http://` to this computer or if private addresses are allowed.
  package let url: String
  /// One or more `whsec_` secrets, separated by blanks.
  package let secret: SecretSource
  /// Whether the URL may lead to a private network.
  package let allowsPrivate: Bool

  package struct Section: SettingsSection {
    var url: String?
    var secret = SecretSetting()
    var allowPrivate = false

    package init() {}

    package static let rows: [Setting<Section>] =
      [
        Setting(
          "url", \.url, .optional(.webURL("https://hooks.example.org/photos")), "The URL that messages are posted to")
      ] + Setting.secret("secret", \.secret, "the whsec_ secret that signs", more: "; several are separated by blanks")
      + [
        Setting(
          "allowPrivate", \.allowPrivate, .flag,
          "Whether the URL may lead into a private network, and be plain http://")
      ]
  }

  /// The URL, unless messages would leave this computer unencrypted.
  private static func safe(_ url: String?, _ section: Section, _ check: SectionCheck) -> String? {
    guard let url, let address = WebAddress(url), address.isPlain, !address.isLoopback, !section.allowPrivate else {
      return url
    }
    check.complain(
      about: "url",
      "`\(check.path).url` has to begin with `https://`; plain `http://` goes only to this computer, "
        + "or anywhere with `allowPrivate: true`")
    return nil
  }

  package var secrets: [SecretSource] { [secret] }
  package var isPlain: Bool { SettingKit.isPlain(url) }
  package var isElsewhere: Bool { HTTPAddress(url).map { !$0.isThisComputer } ?? false }

  package func privacy(sealedWith seal: SealKind) -> String { "photos are sealed, and the receiver gets the keys" }

  package func network(_ name: String, in surroundings: NetworkSurroundings) throws -> any Network {
    var options = WebhookOptions(url: url, secrets: try loadSecrets())
    options.rereadSecrets = loadSecrets
    options.allowsPrivateAddresses = allowsPrivate
    return try WebhookNetwork(name: name, options, client: surroundings.client)
  }

  @Sendable private func loadSecrets() throws -> [Secret] {
    try secret.load().reveal().split(separator: " ").map { Secret(String($0)) }
  }

  package func listener(
    to network: any Network, _ conversations: HeardConversations, in surroundings: NetworkSurroundings
  ) throws -> (any Listener)? { nil }
}

extension WebhookNetworkType {
  package init?(_ section: Section, _ check: SectionCheck) {
    let url = Self.safe(check.need("url", section.url), section, check)
    let secret = check.needSecret("secret", section.secret)
    guard let url, let secret else { return nil }
    self.init(url: url, secret: secret, allowsPrivate: section.allowPrivate)
  }
}
