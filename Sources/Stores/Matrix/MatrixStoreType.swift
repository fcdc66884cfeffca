import Matrix
import Secrets
import SettingKit

package struct MatrixStoreType: StoreType {
  package static let word = "matrix"
  package static let ownURLs: OwnURLs? = OwnURLs(scheme: "mxc://", network: "matrix", seals: [.matrix, .unsealed])

  /// The homeserver's URL.
  var homeserver = ""
  var token = SecretSetting()

  package init() {}

  package static let rows: [Setting<MatrixStoreType>] =
    Setting.secret("token", \.token, "the access token") + [
      Setting(
        "homeserver", \.homeserver, .orEmpty(.webURL("https://matrix.example.org")),
        "The URL of the Matrix homeserver that keeps the photos")
    ]

  package func isComplete(_ check: SectionCheck) -> Bool {
    [check.hasBase("homeserver", homeserver), check.has("token", token)].allSatisfy(\.self)
  }

  package var secrets: [SecretSource] { [token.source].compactMap(\.self) }
  package var isPlain: Bool { SettingKit.isPlain(homeserver) }
  package var isOnlyHere: Bool { false }

  package func store(_ name: String, in surroundings: DestinationSurroundings) throws -> any Store {
    try MatrixStore(
      name: name, MatrixAccount(homeserver: homeserver, token: Renewable(reading: token.load)),
      client: surroundings.client, limits: surroundings.limits)
  }
}
