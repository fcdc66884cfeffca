import HTTP
import Messages
import Secrets
import SettingKit

package struct S3StoreType: StoreType {
  package static let word = "s3"
  package static let ownURLs: OwnURLs? = nil

  /// The service's URL without bucket and query.
  var endpoint = ""
  var region = "us-east-1"
  var bucket = ""
  var addressing = S3Service.Addressing.path
  var naming = ObjectNaming.digest
  /// The receivers' URL before `/NAME`; nil means the bucket's own.
  var url: String?
  var accessKey = SecretSetting()
  var secretKey = SecretSetting()
  var sessionToken = SecretSetting()

  package init() {}

  package static let rows: [Setting<S3StoreType>] =
    [
      Setting(
        "url", \.url, .optional(.baseURL),
        "The URL under which others find the objects; empty is the directory's or bucket's own"),
      Setting(
        "endpoint", \.endpoint, .orEmpty(.webURL("https://s3.example.org")),
        "The URL of the S3 service, or the one that answers with upload URLs"),
      Setting("region", \.region, regionName, "The region that the S3 service is in"),
      Setting("bucket", \.bucket, .orEmpty(.bucket), "The bucket"),
      Setting("addressing", \.addressing, .word, "Where the bucket stands in the URL"),
      Setting("naming", \.naming, ObjectNaming.kind, "How objects are named"),
    ] + Setting.secret("accessKey", \.accessKey, "the id of the access key")
    + Setting.secret("secretKey", \.secretKey, "the secret key")
    + Setting.secret("sessionToken", \.sessionToken, "the session token of passing keys")

  package func isComplete(_ check: SectionCheck) -> Bool {
    [
      check.hasBase("endpoint", endpoint), check.has("bucket", bucket), check.has("accessKey", accessKey),
      check.has("secretKey", secretKey), check.isClear("sessionToken", sessionToken),
    ].allSatisfy(\.self)
  }

  package var secrets: [SecretSource] {
    [accessKey, secretKey, sessionToken].compactMap(\.source)
  }
  package var isPlain: Bool { SettingKit.isPlain(endpoint) }
  package var isOnlyHere: Bool { false }

  package func store(_ name: String, in surroundings: DestinationSurroundings) throws -> any Store {
    S3Store(
      name: name, try service(), credentials: try Renewable(reading: credentials), naming: naming, publicURL: url,
      client: surroundings.client, limits: surroundings.limits)
  }

  /// The same bucket as a place for the bytes of a cluster's relayed requests. Reads the secrets.
  package func blobs(client: HTTPClient, limits: HTTPLimits) throws -> S3Blobs {
    S3Blobs(try service(), credentials: try Renewable(reading: credentials), client: client, limits: limits)
  }

  private func service() throws(DeliveryError) -> S3Service {
    try S3Service(endpoint: endpoint, region: region, bucket: bucket, addressing: addressing)
  }

  @Sendable private func credentials() throws -> S3Credentials {
    S3Credentials(
      accessKey: try accessKey.load().reveal(), secretKey: try secretKey.load(),
      sessionToken: try sessionToken.source?.load())
  }
}

private let regionName = SettingKind<String>(
  expects: "a region such as `eu-central-1`", accepts: { $0.wholeMatch(of: /[!-.0-~]{1,100}/) != nil })
