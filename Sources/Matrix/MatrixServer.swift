import HTTP
import Messages
import Secrets

/// A homeserver's client API with one device's access token. Source: spec.matrix.org, client-server API.
package struct MatrixServer: Sendable {
  /// `the homeserver at matrix.example.org`.
  package let name: String
  /// The meaning of its errors.
  package let faults: MatrixFaults
  private let base: String
  private var token: Renewable<Secret>
  private let client: HTTPClient
  private let limits: HTTPLimits

  /// - Parameter use: the part that is asked, for the meaning of errors.
  /// - Throws: `.configError` for an invalid URL.
  package init(
    _ account: MatrixAccount, for use: MatrixFaults.Use, client: HTTPClient, limits: HTTPLimits = HTTPLimits()
  ) throws(DeliveryError) {
    guard let address = HTTPAddress(account.homeserver), address.query == nil else {
      throw DeliveryError(
        .configError, "the homeserver has to be a URL such as `https://matrix.example.org`, without user and query")
    }
    let path = address.path.hasSuffix("/") ? String(address.path.dropLast()) : address.path
    base = "\(address.scheme)://\(address.authority)\(path)"
    name = "the homeserver at \(address.authority)"
    faults = MatrixFaults(server: name, use: use)
    token = account.token
    self.client = client
    self.limits = limits
  }

  /// The same with its current token for good, for a request that must not be made by another device.
  package var pinned: MatrixServer {
    var copy = self
    copy.token = Renewable(token.current)
    return copy
  }

  /// Whether both have the same token now.
  package func hasToken(of other: MatrixServer) -> Bool { token.current == other.token.current }

  /// Sends one request.
  ///
  /// - Parameters:
  ///   - path: after the base URL, escaped as it is sent.
  ///   - replyBytes: the size limit of the answer, if unusual.
  /// - Returns: the answer, whatever its status.
  /// - Throws: an error without an answer.
  package func send(
    _ method: HTTPRequest.Method, _ path: String, _ body: [UInt8] = [], contentType: String = "application/json",
    replyBytes: Int? = nil, progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) async throws(HTTPError) -> MatrixAnswer {
    var headers = [HTTPHeader("Authorization", "Bearer \(token.current.reveal())")]
    if method == .put || method == .post { headers.append(HTTPHeader("Content-Type", contentType)) }
    var limits = limits
    if let replyBytes { limits.replyBytes = replyBytes }
    let request = HTTPRequest(method, base + path, headers: headers, body: body, limits: limits)
    let answer = MatrixAnswer(try await client.send(request, progress: progress))
    if answer.isTokenRefused { token.refuse() }
    return answer
  }

  /// Sends one request.
  ///
  /// - Returns: the answer, whatever its status.
  /// - Throws: the error of `faults` without an answer.
  package func ask(
    _ method: HTTPRequest.Method, _ path: String, _ body: [UInt8] = [], contentType: String = "application/json",
    replyBytes: Int? = nil, progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) async throws(DeliveryError) -> MatrixAnswer {
    do {
      return try await send(
        method, path, body, contentType: contentType, replyBytes: replyBytes, progress: progress)
    } catch {
      throw faults.error(error)
    }
  }

  /// A member of a successful answer.
  ///
  /// - Throws: the error of `faults` for any other answer.
  package func need<Value: Decodable>(_ member: String, of answer: MatrixAnswer) throws(DeliveryError) -> Value {
    guard answer.isSuccess, let value: Value = answer.member(member) else { throw faults.error(answer) }
    return value
  }
}

extension MatrixServer {
  /// Changes with the token, within this process.
  package var tokenMark: Int { token.current.hashValue }

  /// The JSON of a successful answer to a request with a JSON body.
  ///
  /// - Throws: the error of `faults` for any other answer.
  package func post(
    _ path: String, _ body: JSONValue, method: HTTPRequest.Method = .post, replyBytes: Int? = nil
  ) async throws(DeliveryError) -> JSONValue {
    let answer = try await ask(method, path, body.canonical ?? [], replyBytes: replyBytes)
    guard answer.isSuccess, let json = answer.json else { throw faults.error(answer) }
    return json
  }
}
