import Digests
import HTTP
import Messages
import Secrets

/// A bucket of an S3 service, which is asked with signed requests.
struct S3Bucket: Sendable {
  let service: S3Service
  let credentials: Renewable<S3Credentials>
  let client: HTTPClient
  let limits: HTTPLimits
  var faults: StoreFaults { StoreFaults(store: "the S3 service at \(service.authority)") }

  /// - Parameters:
  ///   - digest: that of the body; nil has it computed.
  ///   - replyBytes: the size limit of the answer; nil is the usual one.
  func send(
    _ method: HTTPRequest.Method, _ object: ObjectName, headers: [HTTPHeader] = [], body: [UInt8] = [],
    digest: SHA256Digest? = nil, replyBytes: Int? = nil, progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) async throws(HTTPError) -> StoreAnswer {
    // A signature is valid for minutes, so each attempt has its own.
    let signed = SigV4(credentials: credentials.current, region: service.region).headers(
      method, host: service.authority, path: service.path(of: object), headers: headers,
      payload: digest ?? SHA256Digest(of: body), at: .now())
    var request = HTTPRequest(method, service.url(of: object), headers: signed, body: body, limits: limits)
    if method == .put { request.successBytes = 0 }
    if let replyBytes { request.limits.replyBytes = replyBytes }
    let answer = StoreAnswer(try await client.send(request, progress: progress))
    if !answer.isSuccess, faults.error(answer).cause == .authExpired { credentials.refuse() }
    return answer
  }
}
