import Digests
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
struct SigV4: Sendable {
  let credentials: S3Credentials
  let region: String
  private static let algorithm = "AWS4-HMAC-SHA256"

  /// The given headers and those of the signature. All are signed, and so is `Host`, which libcurl adds.
  ///
  /// - Parameters:
  ///   - host: with the port, unless it is the scheme's default.
  ///   - path: encoded as it is sent.
  ///   - payload: the digest of the whole body.
  func headers(
    _ method: HTTPRequest.Method, host: String, path: String, headers: [HTTPHeader] = [], payload: SHA256Digest,
    at time: Timestamp
  ) -> [HTTPHeader] {
    let date = Self.date(time)
    var headers = headers
    headers.append(HTTPHeader("x-amz-content-sha256", payload.hex))
    headers.append(HTTPHeader("x-amz-date", date))
    if let token = credentials.sessionToken { headers.append(HTTPHeader("x-amz-security-token", token.reveal())) }
    // Values without blanks around them, and with single ones inside.
    let signed = (headers + [HTTPHeader("host", host)])
      .map { (name: $0.name.lowercased(), value: $0.value.split(separator: " ").joined(separator: " ")) }
      .sorted { $0.name < $1.name }
    let names = signed.map(\.name).joined(separator: ";")
    let lines = signed.map { "\($0.name):\($0.value)" }
    let canonicalRequest = [method.rawValue, path, ""] + lines + ["", names, payload.hex]
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

  /// `20130524T000000Z`.
  private static func date(_ time: Timestamp) -> String {
    time.description.prefix(19).filter { $0 != "-" && $0 != ":" } + "Z"
  }
}
