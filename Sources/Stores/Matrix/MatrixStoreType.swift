import Matrix
import Secrets
import SettingKit

package struct MatrixStoreType: StoreType {
  package static let word = "matrix"
  package static let ownURLs: OwnURLs? = OwnURLs(scheme: "mxc://", network: "matrix", seals: [.matrix, .unsealed])

  /// The homeserver's URL, without a final slash.
  package let homeserver: String
  package let token: SecretSource

  package struct Section: SettingsSection {
    var homeserver: String?
    var token = SecretSetting()

    package init() {}

    package static let rows: [Setting<Section>] =
      Setting.secret("token", \.token, "the access token") + [
        Setting(
          "homeserver", \.homeserver, .optional(.webURL("https://matrix.example.org")),
          "The URL of the Matrix homeserver that keeps the photos")
      ]
  }

  package var secrets: [SecretSource] { [token] }
  package var isPlain: Bool { SettingKit.isPlain(homeserver) }
  package var isOnlyHere: Bool { false }

  package func store(_ name: String, in surroundings: StoreSurroundings) throws -> any Store {
    try MatrixStore(
      name: name, MatrixAccount(homeserver: homeserver, token: Renewable(reading: token.load)),
      client: surroundings.client, limits: surroundings.limits)
  }
}

extension MatrixStoreType {
  package init?(_ section: Section, _ check: SectionCheck) {
    let homeserver = check.base("homeserver", check.need("homeserver", section.homeserver))
    let token = check.needSecret("token", section.token)
    guard let homeserver, let token else { return nil }
    self.init(homeserver: homeserver, token: token)
  }
}
