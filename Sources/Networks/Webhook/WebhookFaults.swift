import HTTP
import Messages

/// The table of causes for failures of a webhook's receiver.
struct WebhookFaults: Sendable {
  /// For sentences: `the webhook at photos.example.org`.
  let receiver: String

  /// The error without an answer. A cancelled request may have had its effect and is repeated.
  func error(_ error: HTTPError) -> DeliveryError {
    error.cause == .cancelled
      ? DeliveryError(.network, "the request to \(receiver) was interrupted; it is made again")
      : DeliveryError(error.cause, error.description)
  }

  /// The error of an unsuccessful answer.
  func error(_ response: HTTPResponse, now: Timestamp) -> DeliveryError {
    let (cause, words) = finding(response.status)
    let hint = response.header("Retry-After").flatMap { RetryAfter.seconds($0, now: now) }
    return DeliveryError(
      cause, "\(receiver) \(words) (\(response.status))", retryAfter: cause.disposition == .retry ? hint : nil)
  }

  private func finding(_ status: Int) -> (Cause, String) {
    switch status {
    case 300..<400: (.configError, "wants to be called at another address; check its URL")
    case 401, 403: (.authExpired, "does not accept the signature; check the secret and this machine's clock")
    case 404, 405, 501: (.configError, "takes no webhooks; check its URL")
    case 407: (.configError, "cannot be reached, because the proxy wants credentials")
    case 408: (.timeout, "gave up waiting")
    case 409: (.conflict, "is busy with the same message")
    case 410: (.accountDisabled, "wants no more messages; ask its operator, or remove it")
    case 413: (.rejected, "does not take a message of that size")
    case 425: (.serverBusy, "asks to be tried again")
    case 429: (.rateLimited, "asks to be called less often")
    case 500...: (.serverBusy, "cannot serve at the moment")
    default: (.rejected, "refuses the message")
    }
  }
}
