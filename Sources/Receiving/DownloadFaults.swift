import HTTP
import Messages

/// The table of causes for failed downloads.
struct DownloadFaults: Sendable {
  /// Whether our own homeserver was asked.
  let isHomeserver: Bool

  /// The error without a complete answer.
  func error(_ error: HTTPError) -> DeliveryError {
    switch error.reason {
    case .privateAddress: DeliveryError(.blockedAddress, error.description)
    case .replyTooLarge: DeliveryError(.tooLarge, error.description)
    case .badURL: DeliveryError(.insecureURL, error.description)
    // Certificates get renewed; until then the host counts as unreachable.
    case .tls: DeliveryError(isHomeserver ? .configError : .network, error.description)
    default: DeliveryError(error.cause, error.description)
    }
  }

  /// The error for an answer that is neither the photo nor a redirect.
  func error(_ response: HTTPResponse, host: String, now: Timestamp = .now()) -> DeliveryError {
    let (cause, words): (Cause, String) =
      switch response.status {
      case 401 where isHomeserver: (.authExpired, "does not accept the access token; log in again and replace it")
      case 404, 410: (.notFound, "does not have the photo, or not yet")
      case 408: (.timeout, "gave up waiting")
      case 429, 509: (.rateLimited, "asks to be called less often")
      case 504 where isHomeserver: (.notYetUploaded, "does not have the photo yet")
      case 425, 500...: (.serverBusy, "cannot serve at the moment")
      default: (.httpStatus, "refuses to send the photo")
      }
    let hint = response.header("Retry-After").flatMap { RetryAfter.seconds($0, now: now) }
    return DeliveryError(
      cause, "\(host) \(words) (\(response.status))", retryAfter: cause.disposition == .retry ? hint : nil)
  }
}
