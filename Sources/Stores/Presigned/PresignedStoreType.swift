import Secrets
import SettingKit

package struct PresignedStoreType: StoreType {
  package static let word = "presigned"
  package static let ownURLs: OwnURLs? = nil

  package let endpoint: String
  /// The token for the endpoint, if any.
  package let token: SecretSource?

  package struct Section: SettingsSection {
    var endpoint: String?
    var token = SecretSetting()

    package init() {}

    package static let rows: [Setting<Section>] =
      [
        Setting(
          "endpoint", \.endpoint, .optional(.webURL("https://s3.example.org")),
          "The URL of the S3 service, or the one that answers with upload URLs")
      ] + Setting.secret("token", \.token, "the access token")
  }

  package var secrets: [SecretSource] { [token].compactMap(\.self) }
  package var isPlain: Bool { SettingKit.isPlain(endpoint) }
  package var isOnlyHere: Bool { false }

  package func store(_ name: String, in surroundings: StoreSurroundings) throws -> any Store {
    try PresignedStore(
      name: name, endpoint: endpoint, token: token?.load(), rereadToken: { try token?.load() },
      client: surroundings.client, limits: surroundings.limits)
  }
}

extension PresignedStoreType {
  package init?(_ section: Section, _ check: SectionCheck) {
    let token = check.secret("token", section.token)
    guard let endpoint = check.need("endpoint", section.endpoint) else { return nil }
    self.init(endpoint: endpoint, token: token)
  }
}
