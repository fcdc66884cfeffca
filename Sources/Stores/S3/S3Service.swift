import HTTP
import Messages

package struct S3Service: Sendable, Equatable {
  package enum Addressing: String, CaseIterable, Sendable {
    /// `https://HOST/BUCKET/NAME`.
    case path
    /// `https://BUCKET.HOST/NAME`.
    case virtualHost = "virtual-host"
  }

  /// The region for signatures, such as `eu-central-1`.
  package let region: String
  private let scheme: String
  /// Host and port, as in `Host`.
  let authority: String
  /// The encoded path before an object's name, with a final slash.
  private let prefix: String

  /// - Parameter endpoint: the service's URL without the bucket.
  /// - Throws: `.configError` for an invalid URL.
  package init(
    endpoint: String, region: String, bucket: String, addressing: Addressing = .path
  ) throws(DeliveryError) {
    guard let address = HTTPAddress(endpoint), address.query == nil else {
      throw DeliveryError(
        .configError, "the S3 endpoint has to be a URL such as `https://s3.example.org`, without user and query")
    }
    self.region = region
    scheme = address.scheme
    let folder = address.path.hasSuffix("/") ? address.path : address.path + "/"
    switch addressing {
    case .path:
      authority = address.authority
      prefix = "\(folder)\(bucket)/"
    case .virtualHost:
      authority = "\(bucket).\(address.authority)"
      prefix = folder
    }
  }

  /// The encoded path of an object, with its slashes.
  func path(of object: ObjectName) -> String { prefix + object.text.percentEncoded(keeping: "/") }

  func url(of object: ObjectName) -> String { "\(scheme)://\(authority)\(path(of: object))" }
}
