import Digests
import Glibc
import HTTP
import Messages
import Secrets

package struct S3Credentials: Sendable, Equatable {
  package let accessKey: String
  package let secretKey: Secret
  /// For temporary credentials.
  package let sessionToken: Secret?

  package init(accessKey: String, secretKey: Secret, sessionToken: Secret? = nil) {
    self.accessKey = accessKey
    self.secretKey = secretKey
    self.sessionToken = sessionToken
  }
}

/// AWS Signature Version 4 for S3: the path is encoded once, and the digest of the body is signed. Source:
/// "Authenticating Requests: Using the Authorization Header", Amazon S3 API Reference.
package struct SigV4: Sendable {
  private let credentials: S3Credentials
  private let region: String
  private static let algorithm = "AWS4-HMAC-SHA256"

  package init(credentials: S3Credentials, region: String) {
    self.credentials = credentials
    self.region = region
  }

  /// The given headers and those of the signature. All are signed, and so is `Host`, which libcurl adds.
  ///
  /// - Parameters:
  ///   - host: with the port, unless it is the scheme's default.
  ///   - path: encoded as it is sent.
  ///   - query: names and values, not encoded.
  ///   - payload: the digest of the whole body.
  package func headers(
    _ method: HTTPRequest.Method, host: String, path: String, query: [(name: String, value: String)] = [],
    headers: [HTTPHeader] = [], payload: SHA256Digest, at time: Timestamp
  ) -> [HTTPHeader] {
    let date = Self.date(time)
    var headers = headers
    headers.append(HTTPHeader("x-amz-content-sha256", payload.hex))
    headers.append(HTTPHeader("x-amz-date", date))
    if let token = credentials.sessionToken { headers.append(HTTPHeader("x-amz-security-token", token.reveal())) }
    let signed = (headers + [HTTPHeader("host", host)])
      .map { (name: $0.name.lowercased(), value: Self.canonical($0.value)) }.sorted { $0.name < $1.name }
    let names = signed.map(\.name).joined(separator: ";")
    let lines = signed.map { "\($0.name):\($0.value)" }
    let canonicalRequest = [method.rawValue, path, Self.canonical(query)] + lines + ["", names, payload.hex]
    let scope = "\(date.prefix(8))/\(region)/s3/aws4_request"
    let digest = SHA256Digest(of: Array(canonicalRequest.joined(separator: "\n").utf8))
    let signature = sign("\(Self.algorithm)\n\(date)\n\(scope)\n\(digest)", on: date.prefix(8))
    let credential = "Credential=\(credentials.accessKey)/\(scope)"
    headers.append(
      HTTPHeader("Authorization", "\(Self.algorithm) \(credential), SignedHeaders=\(names), Signature=\(signature)"))
    return headers
  }

  private func sign(_ text: String, on day: Substring) -> String {
    var key = Array("AWS4\(credentials.secretKey.reveal())".utf8)
    for part in [String(day), region, "s3", "aws4_request", text] {
      key = HMACSHA256(key: key).code(of: Array(part.utf8))
    }
    return key.hex
  }

  /// Trims blanks, and reduces runs of them to one.
  private static func canonical(_ value: String) -> String {
    value.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
  }

  private static func canonical(_ query: [(name: String, value: String)]) -> String {
    query.map { (name: $0.name.percentEncoded(), value: $0.value.percentEncoded()) }
      .sorted { ($0.name, $0.value) < ($1.name, $1.value) }.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
  }

  /// `20130524T000000Z`.
  private static func date(_ time: Timestamp) -> String {
    var seconds = time_t(time.milliseconds / 1000)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func digits(_ number: Int32, _ count: Int = 2) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    return digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1) + digits(parts.tm_mday) + "T"
      + digits(parts.tm_hour) + digits(parts.tm_min) + digits(parts.tm_sec) + "Z"
  }
}
