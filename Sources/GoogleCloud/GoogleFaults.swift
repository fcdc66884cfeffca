import HTTP
import Messages

/// The service that is asked, and the scope of an access token for it. Firestore refuses the message; Cloud Storage
/// refuses the account.
package enum GoogleUse: String, Sendable {
  case documents = "https://www.googleapis.com/auth/datastore"
  case objects = "https://www.googleapis.com/auth/devstorage.read_write"
}

/// The table of causes for failures of a Google Cloud service, for documents and objects. Only the service's own refusal
/// fails a request. A proxy's error is retried.
package struct GoogleFaults: Sendable {
  /// For sentences: `Firestore at firestore.googleapis.com`.
  let service: String
  let use: GoogleUse

  /// The error without an answer. A cancelled upload says so; a message that may be published is asked for again.
  func error(_ error: HTTPError) -> DeliveryError {
    guard error.cause == .cancelled else { return DeliveryError(error.cause, error.description) }
    return interrupted
  }

  /// The error of a request that was cut off.
  var interrupted: DeliveryError {
    switch use {
    case .objects: DeliveryError(.cancelled, "the upload was cancelled")
    case .documents: DeliveryError(.network, "publishing was interrupted; whether it happened is asked again")
    }
  }

  /// The error of an unsuccessful answer.
  package func error(_ answer: GoogleAnswer, now: Timestamp = .now()) -> DeliveryError {
    let (cause, words) = answer.reason.flatMap(finding) ?? finding(answer)
    let word = [answer.word, answer.reason].compactMap { $0.map { " \($0)" } }.joined()
    let hint = answer.retryAfter.flatMap { RetryAfter.seconds($0, now: now) }
    return DeliveryError(
      cause, "\(service) \(words) (\(answer.status)\(word))", retryAfter: cause.disposition == .retry ? hint : nil)
  }

  /// Whether the service knows the account and does not let it do this one thing.
  package func isForbidden(_ answer: GoogleAnswer) -> Bool {
    answer.status == 403 && answer.isJSON && answer.reason.flatMap(finding) == nil
  }

  /// The meaning of reasons that concern the project or the account, and no message.
  private func finding(_ reason: String) -> (Cause, String)? {
    switch reason {
    case "SERVICE_DISABLED": (.configError, "is not enabled for the project; enable it in Google Cloud's console")
    case "BILLING_DISABLED": (.configError, "wants billing to be enabled for the project")
    case "CONSUMER_INVALID", "CONSUMER_SUSPENDED": (.configError, "does not serve the project; check its name")
    case "IAM_PERMISSION_DENIED": (.configError, "does not allow it; give the service account a role that does")
    case "ACCESS_TOKEN_SCOPE_INSUFFICIENT": (.configError, "does not allow it; check the account's key")
    case "ACCESS_TOKEN_EXPIRED", "CREDENTIALS_MISSING", "ACCESS_TOKEN_TYPE_UNSUPPORTED":
      (.authExpired, "does not accept the access token; check the account's key")
    default: nil
    }
  }

  private func finding(_ answer: GoogleAnswer) -> (Cause, String) {
    switch answer.status {
    case 200..<300, 511:
      (.network, "answered with something else than JSON; check whether a login page or a proxy stands before it")
    case 300..<400: (.configError, "wants to be called at another address")
    case 401: (.authExpired, "does not accept the access token; check the account's key")
    case 407: (.configError, "cannot be reached, because the proxy wants credentials")
    case 408: (.timeout, "gave up waiting")
    case 409, 412: (.conflict, use == .objects ? "is busy with the same object" : "is busy with the same document")
    case 413: (.rejected, use == .objects ? "does not take an object of that size" : "does not take it at that size")
    case 429, 500...: (.serverBusy, "cannot serve at the moment")
    case _ where !answer.isJSON:
      (.serverBusy, "answered with something else than JSON; check whether a proxy stands before it")
    case 400 where use == .documents: (.malformedRequest, "does not understand the document; check `fields`")
    case 403 where use == .documents: (.forbidden, "does not let the account write there")
    case 403: (.configError, "does not let the account use the bucket; give it a role that does")
    case 404 where use == .documents: (.configError, "has no such project or database; check both")
    case 404: (.configError, "has no such bucket; check its name")
    default: (.configError, "refuses the request; check the settings")
    }
  }
}
