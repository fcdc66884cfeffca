import FoundationEssentials
import HTTP
import Messages
import Secrets
import Synchronization

/// The access tokens of a service account for one scope, in memory only. A token serves all requests until five minutes
/// before its end. One request at a time gets a new one; the others wait for it, and stop waiting when their task is
/// cancelled.
package final class AccessTokens: Sendable {
  private struct Answer: Decodable {
    let token: String
    /// In seconds.
    let validity: Double

    private enum CodingKeys: String, CodingKey {
      case token = "access_token"
      case validity = "expires_in"
    }
  }

  private struct Refusal: Decodable {
    let error: String
  }

  private typealias Waiting = CheckedContinuation<Result<Secret, DeliveryError>, Never>

  private struct State {
    var token: (secret: Secret, end: ContinuousClock.Instant)?
    var isFetching = false
    var waiting: [Int: Waiting] = [:]
    var count = 0
  }

  private let state = Mutex(State())
  private let account: Renewable<ServiceAccount>
  private let scope: GoogleUse
  private let client: HTTPClient
  private let clock: @Sendable () -> Timestamp

  /// How long before its end a token is no longer used.
  private static let margin = Duration.seconds(300)
  private static let timeLimit = Duration.seconds(30)

  /// - Parameter account: read again from its file after the endpoint refused it.
  package init(
    _ account: Renewable<ServiceAccount>, for scope: GoogleUse, client: HTTPClient,
    clock: @escaping @Sendable () -> Timestamp = { .now() }
  ) {
    self.account = account
    self.scope = scope
    self.client = client
    self.clock = clock
  }

  /// The name of the account.
  package var email: String { account.current.email }

  /// The current token, or a new one.
  ///
  /// - Throws: `auth_expired` if the endpoint refuses the account; `cancelled`.
  package func current() async throws(DeliveryError) -> Secret {
    if let token = state.withLock({ $0.token }), .now < token.end { return token.secret }
    if Task.isCancelled { throw Self.interruption }
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        wait(number, continuation)
        // It may have been cancelled before it waited.
        if Task.isCancelled { stopWaiting(number) }
      }
    } onCancel: {
      stopWaiting(number)
    }
    return try result.get()
  }

  /// Forgets a token that the service refused, so that the next request gets a new one.
  package func refuse(_ token: Secret) {
    state.withLock { state in
      if state.token?.secret == token { state.token = nil }
    }
  }

  private func wait(_ number: Int, _ continuation: Waiting) {
    let isFirst = state.withLock { state in
      state.waiting[number] = continuation
      defer { state.isFetching = true }
      return !state.isFetching
    }
    // No waiting request owns it, because any of them may be cancelled. It ends at its time limit.
    if isFirst { Task { await fetch() } }
  }

  private func stopWaiting(_ number: Int) {
    let continuation = state.withLock { $0.waiting.removeValue(forKey: number) }
    continuation?.resume(returning: .failure(Self.interruption))
  }

  private func fetch() async {
    let result: Result<(secret: Secret, end: ContinuousClock.Instant), DeliveryError>
    do { result = .success(try await request()) } catch { result = .failure(error) }
    let waiting = state.withLock { state in
      state.isFetching = false
      if case .success(let token) = result { state.token = token }
      defer { state.waiting = [:] }
      return state.waiting.values
    }
    for continuation in waiting { continuation.resume(returning: result.map(\.secret)) }
  }

  private func request() async throws(DeliveryError) -> (secret: Secret, end: ContinuousClock.Instant) {
    let account = account.current
    let form = "grant_type=\("urn:ietf:params:oauth:grant-type:jwt-bearer".percentEncoded())&assertion="
    let begin = ContinuousClock.now
    let request = HTTPRequest(
      .post, account.tokenURL, headers: [HTTPHeader("Content-Type", "application/x-www-form-urlencoded")],
      body: Array((form + (try account.assertion(for: scope, at: clock()))).utf8),
      limits: HTTPLimits(total: Self.timeLimit))
    let response: HTTPResponse
    do { response = try await client.send(request) } catch { throw DeliveryError(error.cause, error.description) }
    // A token with a line break would be two headers.
    if response.isSuccess, let answer = try? JSONDecoder().decode(Answer.self, from: Data(response.body)),
      !answer.token.isEmpty, answer.token.utf8.allSatisfy({ 0x21...0x7e ~= $0 })
    {
      let end = begin + .seconds(min(max(answer.validity, 0), 86_400)) - Self.margin
      return (Secret(answer.token), end)
    }
    throw error(response, of: account)
  }

  private func error(_ response: HTTPResponse, of account: ServiceAccount) -> DeliveryError {
    let endpoint = "the token endpoint at \(HTTPAddress(account.tokenURL)?.authority ?? "the address of the key file")"
    let hint = response.header("Retry-After").flatMap { RetryAfter.seconds($0, now: clock()) }
    switch response.status {
    case 429, 500...:
      return DeliveryError(
        .serverBusy, "\(endpoint) cannot serve at the moment (\(response.status))", retryAfter: hint)
    case 400, 401, 403:
      self.account.refuse()
      let refusal = try? JSONDecoder().decode(Refusal.self, from: Data(response.body))
      let word = refusal.flatMap { $0.error.wholeMatch(of: /[a-z_]{1,64}/) == nil ? nil : " \($0.error)" } ?? ""
      return DeliveryError(
        .authExpired,
        "\(endpoint) does not accept the key of \(account.email); check this machine's clock, or make a new key "
          + "(\(response.status)\(word))")
    default:
      return DeliveryError(
        .configError, "\(endpoint) gives no access token; check `token_uri` in the key file (\(response.status))")
    }
  }

  private static let interruption = DeliveryError(.cancelled, "the request for an access token was interrupted")
}
