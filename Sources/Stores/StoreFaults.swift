import HTTP
import Messages

/// The table of causes for failures of a remote store. A refusal concerns the configuration, so the destination is held
/// until somebody fixes it. Only a photo that is too large fails.
struct StoreFaults: Sendable {
  /// For sentences: `the S3 service at photos.example.org`.
  let store: String

  /// The error without an answer.
  func error(_ error: HTTPError) -> DeliveryError {
    DeliveryError(error.cause, error.cause == .cancelled ? "the upload was cancelled" : error.description)
  }

  func error(_ answer: StoreAnswer, now: Timestamp = .now()) -> DeliveryError {
    let (cause, words) = finding(answer.status, answer.code, isPage: answer.isPage)
    let word = answer.code.map { "\(answer.status) \($0)" } ?? "\(answer.status)"
    let hint = answer.response.header("Retry-After").flatMap { RetryAfter.seconds($0, now: now) }
    return DeliveryError(
      cause, "\(store) \(words) (\(word))", retryAfter: cause.disposition == .retry ? hint : nil)
  }

  func noS3(_ answer: StoreAnswer) -> DeliveryError {
    if answer.isPage || answer.response.header("Content-Type")?.lowercased().hasPrefix("text/html") == true {
      return DeliveryError(.network, "\(store) \(Self.page) (\(answer.status))")
    }
    return DeliveryError(
      .configError, "\(store) answers, but not as an S3 service does; check its URL (\(answer.status))")
  }

  private static let page =
    "answered with a page for people; check its URL, and whether a proxy or a login page stands before it"

  private func finding(_ status: Int, _ code: String?, isPage: Bool) -> (Cause, String) {
    if let code, let finding = finding(code) { return finding }
    return switch status {
    case 200..<300 where isPage, 511:
      (.network, Self.page)
    case 401: (.authExpired, "does not accept the credentials; check or renew them")
    case 407: (.configError, "cannot be reached, because the proxy wants credentials")
    case 408: (.timeout, "gave up waiting for the upload")
    case 409: (.conflict, "is busy with the same object")
    case 413: (.rejected, "does not take an object of that size")
    case 425: (.serverBusy, "asks to be tried again")
    case 429, 509: (.rateLimited, "asks to be called less often")
    case 501, 505: (.configError, "lacks a function that uploads need; check its URL")
    case 500...: (.serverBusy, "cannot serve at the moment")
    case 300..<400: (.configError, "wants to be called at another address; check its URL and region")
    case 403: (.configError, "does not allow it; check what the credentials may do")
    case 404, 410: (.configError, "has no such place; check its URL and bucket")
    default: (.configError, "refuses the upload; check its URL and settings")
    }
  }

  /// The meaning of S3's codes, which some services send with another status.
  private func finding(_ code: String) -> (Cause, String)? {
    switch code {
    case "RequestTimeTooSkewed":
      (.configError, "refuses requests because this machine's clock differs from its own; set the clock")
    case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidSecurity", "AuthorizationQueryParametersError":
      (.authExpired, "does not accept the access key or its secret; check or renew them")
    case "ExpiredToken", "InvalidToken", "TokenRefreshRequired":
      (.authExpired, "does not accept the session token any more; renew the credentials")
    case "AccountProblem", "AllAccessDisabled", "NotSignedUp", "InvalidPayer", "UserSuspended":
      (.accountDisabled, "has disabled the account; ask its operator")
    case "NoSuchBucket", "InvalidBucketName":
      (.configError, "has no bucket of the configured name; check the bucket")
    case "AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect", "IllegalLocationConstraintException":
      (.configError, "keeps the bucket elsewhere; check the region and the URL")
    case "QuotaExceeded":
      (.configError, "is full, because its quota is used up; free space or raise it")
    case "EntityTooLarge":
      (.rejected, "does not take an object of that size")
    case "RequestTimeout":
      (.timeout, "gave up waiting for the upload")
    case "SlowDown", "TooManyRequests", "RequestLimitExceeded", "Throttling", "ThrottlingException":
      (.rateLimited, "asks to be called less often")
    case "OperationAborted", "ConditionalRequestConflict":
      (.conflict, "is busy with the same object")
    case "BadDigest", "XAmzContentSHA256Mismatch", "IncompleteBody":
      (.network, "got other bytes than were sent")
    case "InternalError", "ServiceUnavailable":
      (.serverBusy, "cannot serve at the moment")
    default:
      nil
    }
  }
}
