import Secrets
import SettingKit

package struct PresignedStoreType: StoreType {
  package static let word = "presigned"
  package static let ownURLs: OwnURLs? = nil

  var endpoint = ""
  /// The token for the endpoint, if any.
  var token = SecretSetting()

  package init() {}

  package static let rows: [Setting<PresignedStoreType>] =
    [
      Setting(
        "endpoint", \.endpoint, .orEmpty(.webURL("https://s3.example.org")),
        "The URL of the S3 service, or the one that answers with upload URLs")
    ] + Setting.secret("token", \.token, "the access token")

  package func isComplete(_ check: SectionCheck) -> Bool {
    [check.isClear("token", token), check.has("endpoint", endpoint)].allSatisfy(\.self)
  }

  package var secrets: [SecretSource] { [token.source].compactMap(\.self) }
  package var isPlain: Bool { SettingKit.isPlain(endpoint) }
  package var isOnlyHere: Bool { false }

  package func store(_ name: String, in surroundings: DestinationSurroundings) throws -> any Store {
    try PresignedStore(
      name: name, endpoint: endpoint, token: Renewable(reading: { try token.source?.load() }),
      client: surroundings.client, limits: surroundings.limits)
  }
}
