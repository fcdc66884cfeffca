import Secrets
import SettingKit

package struct S3StoreType: StoreType {
  package static let word = "s3"
  package static let ownURLs: OwnURLs? = nil

  /// The service's URL without bucket and query.
  package let endpoint: String
  package let region: String
  package let bucket: String
  package let addressing: S3Service.Addressing
  /// A template for `ObjectNaming`.
  package let naming: String
  /// The receivers' URL before `/NAME`; nil means the bucket's own.
  package let url: String?
  package let accessKey: SecretSource
  package let secretKey: SecretSource
  package let sessionToken: SecretSource?

  package struct Section: SettingsSection {
    var endpoint: String?
    var region = "us-east-1"
    var bucket: String?
    var addressing = S3Service.Addressing.path
    var naming = "{digest}"
    var url: String?
    var accessKey = SecretSetting()
    var secretKey = SecretSetting()
    var sessionToken = SecretSetting()

    package init() {}

    package static let rows: [Setting<Section>] =
      [
        Setting(
          "url", \.url, .optional(.baseURL),
          "The URL under which others find the objects; empty is the directory's or bucket's own"),
        Setting(
          "endpoint", \.endpoint, .optional(.webURL("https://s3.example.org")),
          "The URL of the S3 service, or the one that answers with upload URLs"),
        Setting("region", \.region, .region, "The region that the S3 service is in"),
        Setting("bucket", \.bucket, .optional(.bucket), "The bucket"),
        Setting("addressing", \.addressing, .word, "Where the bucket stands in the URL"),
        Setting("naming", \.naming, .objectName, "How objects are named"),
      ] + Setting.secret("accessKey", \.accessKey, "the id of the access key")
      + Setting.secret("secretKey", \.secretKey, "the secret key")
      + Setting.secret("sessionToken", \.sessionToken, "the session token of passing keys")
  }

  package var secrets: [SecretSource] { [accessKey, secretKey] + [sessionToken].compactMap(\.self) }
  package var isPlain: Bool { SettingKit.isPlain(endpoint) }
  package var isOnlyHere: Bool { false }

  package func store(_ name: String, in surroundings: StoreSurroundings) throws -> any Store {
    let service = try S3Service(endpoint: endpoint, region: region, bucket: bucket, addressing: addressing)
    return S3Store(
      name: name, service, credentials: try credentials(), rereadCredentials: credentials,
      naming: try ObjectNaming(naming), publicURL: url, client: surroundings.client, limits: surroundings.limits)
  }

  @Sendable private func credentials() throws -> S3Credentials {
    S3Credentials(
      accessKey: try accessKey.load().reveal(), secretKey: try secretKey.load(),
      sessionToken: try sessionToken?.load())
  }
}

extension S3StoreType {
  package init?(_ section: Section, _ check: SectionCheck) {
    let endpoint = check.base("endpoint", check.need("endpoint", section.endpoint))
    let bucket = check.need("bucket", section.bucket)
    let accessKey = check.needSecret("accessKey", section.accessKey)
    let secretKey = check.needSecret("secretKey", section.secretKey)
    let sessionToken = check.secret("sessionToken", section.sessionToken)
    guard let endpoint, let bucket, let accessKey, let secretKey else { return nil }
    self.init(
      endpoint: endpoint, region: section.region, bucket: bucket, addressing: section.addressing,
      naming: section.naming, url: section.url, accessKey: accessKey, secretKey: secretKey,
      sessionToken: sessionToken)
  }
}
