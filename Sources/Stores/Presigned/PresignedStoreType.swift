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
    var tokenFile: String?
    var tokenVariable: String?

    package init() {}

    package static let rows: [Setting<Section>] = [
      Setting(
        "endpoint", \.endpoint, .optional(.webURL("https://s3.example.org")),
        "The URL of the S3 service, or the one that answers with upload URLs"),
      Setting("tokenFile", \.tokenFile, .optional(.file), "The file with the access token"),
      Setting(
        "tokenVariable", \.tokenVariable, .optional(.variable), "The environment variable with the access token"),
    ]
  }

  package init(endpoint: String, token: SecretSource?) {
    self.endpoint = endpoint
    self.token = token
  }

  package init?(_ section: Section, _ check: SectionCheck) {
    let token = check.secret("token", file: section.tokenFile, variable: section.tokenVariable)
    guard let endpoint = check.need("endpoint", section.endpoint) else { return nil }
    self.init(endpoint: endpoint, token: token)
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
