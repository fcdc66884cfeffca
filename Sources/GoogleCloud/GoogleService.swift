import HTTP
import Messages
import Secrets

/// A JSON service of Google Cloud, or its emulator, with the account that uses it.
package struct GoogleService: Sendable {
  /// `Firestore at firestore.googleapis.com`, `the emulator of Firestore at 127.0.0.1:8080`.
  package let name: String
  /// The meaning of its errors.
  package let faults: GoogleFaults
  /// `https://firestore.googleapis.com`.
  package let base: String
  /// Those of the account; nil is the administrator of an emulator, who needs no key.
  private let tokens: AccessTokens?
  private let client: HTTPClient
  private let limits: HTTPLimits

  /// - Parameters:
  ///   - noun: the service's name for sentences.
  ///   - host: the service's host.
  ///   - emulator: the base URL of an emulator that is used instead; nil for none.
  ///   - keyFile: reads the key file of the service account; nil means the administrator of the emulator.
  /// - Throws: `.configError` for an invalid URL or key file.
  package init(
    _ noun: String, at host: String, emulator: String?, for use: GoogleUse,
    keyFile: (@Sendable () throws -> Secret)?, client: HTTPClient, limits: HTTPLimits = HTTPLimits()
  ) throws {
    if let emulator {
      guard let address = HTTPAddress(emulator), address.query == nil else {
        throw DeliveryError(.configError, "`emulator` has to be a URL such as `http://127.0.0.1:8080`, without query")
      }
      let path = address.path.hasSuffix("/") ? String(address.path.dropLast()) : address.path
      base = "\(address.scheme)://\(address.authority)\(path)"
      name = "the emulator of \(noun) at \(address.authority)"
    } else {
      base = "https://\(host)"
      name = "\(noun) at \(host)"
    }
    faults = GoogleFaults(service: name, use: use)
    tokens = try keyFile.map { read in
      AccessTokens(try Renewable(reading: { try ServiceAccount(try read()) }), for: use, client: client)
    }
    self.client = client
    self.limits = limits
  }

  /// The account, for sentences.
  package var account: String { tokens.map { "the service account \($0.email)" } ?? "its administrator" }

  /// Sends one request; again with a new access token if the service refuses the current one.
  ///
  /// - Parameter path: after the base URL, escaped as it is sent.
  /// - Returns: the answer, whatever its status.
  /// - Throws: the error of `faults` without an answer, or that of the token endpoint.
  package func ask(
    _ method: HTTPRequest.Method, _ path: String, _ body: [UInt8] = [], contentType: String = "application/json",
    progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) async throws(DeliveryError) -> GoogleAnswer {
    guard let tokens else {
      return try await send(method, path, body, contentType, Self.administrator, progress)
    }
    let token = try await current(tokens)
    let answer = try await send(method, path, body, contentType, token, progress)
    guard answer.status == 401 else { return answer }
    tokens.refuse(token)
    return try await send(method, path, body, contentType, current(tokens), progress)
  }

  /// The emulators take this for the administrator's token.
  private static let administrator = Secret("owner")

  private func current(_ tokens: AccessTokens) async throws(DeliveryError) -> Secret {
    do { return try await tokens.current() } catch {
      throw error.cause == .cancelled ? faults.interrupted : error
    }
  }

  private func send(
    _ method: HTTPRequest.Method, _ path: String, _ body: [UInt8], _ contentType: String, _ token: Secret,
    _ progress: @escaping @Sendable (Double) -> Void
  ) async throws(DeliveryError) -> GoogleAnswer {
    var headers = [HTTPHeader("Authorization", "Bearer \(token.reveal())")]
    if method == .put || method == .post { headers.append(HTTPHeader("Content-Type", contentType)) }
    let request = HTTPRequest(method, base + path, headers: headers, body: body, limits: limits)
    do { return GoogleAnswer(try await client.send(request, progress: progress)) } catch { throw faults.error(error) }
  }
}
