import HTTP
import Messages

/// The table of causes for failures of a homeserver, for rooms and media. Only a homeserver's own code fails a request.
/// A proxy's error is retried.
package struct MatrixFaults: Sendable {
  /// The part of the homeserver that was asked. A room refuses the message; the media repository refuses the account.
  package enum Use: Sendable {
    case room
    case media
    /// The account's own profile.
    case profile
  }

  /// For sentences: `the homeserver at matrix.example.org`.
  let server: String
  let use: Use

  /// The error without an answer. A cancelled upload says so; a message that may be published is asked for again.
  package func error(_ error: HTTPError) -> DeliveryError {
    guard error.cause == .cancelled else { return DeliveryError(error.cause, error.description) }
    return switch use {
    case .media: DeliveryError(.cancelled, "the upload was cancelled")
    case .room, .profile: DeliveryError(.network, "publishing was interrupted; whether it happened is asked again")
    }
  }

  package func error(_ answer: MatrixAnswer, now: Timestamp = .now()) -> DeliveryError {
    let (cause, words) = answer.code.flatMap { finding($0) } ?? finding(answer)
    let word = answer.code.map { "\(answer.status) \($0)" } ?? "\(answer.status)"
    return DeliveryError(
      cause, "\(server) \(words) (\(word))",
      retryAfter: cause.disposition == .retry ? answer.retryAfter(now: now) : nil)
  }

  /// The meaning of the specification's codes, which some servers send with another status.
  private func finding(_ code: String) -> (Cause, String)? {
    switch code {
    case "M_UNKNOWN_TOKEN", "M_MISSING_TOKEN":
      (.authExpired, "does not accept the access token; log in again and replace it")
    case "M_USER_DEACTIVATED", "M_USER_LOCKED", "M_USER_SUSPENDED", "ORG_MATRIX_EXPIRED_ACCOUNT":
      (.accountDisabled, "has disabled the account; ask its operator")
    case "M_CONSENT_NOT_GIVEN":
      (.accountDisabled, "wants its terms accepted first; log in with a chat app and do so")
    case "M_LIMIT_EXCEEDED":
      (.rateLimited, "asks to be called less often")
    case "M_RESOURCE_LIMIT_EXCEEDED":
      (.configError, "has reached a limit of its own and takes nothing; ask its operator")
    case "M_TOO_LARGE":
      (.rejected, use == .media ? "does not take an object of that size" : "does not take a message of that size")
    case "M_UNRECOGNIZED":
      (.configError, "does not know the request; check its URL and version")
    case "M_FORBIDDEN", "M_GUEST_ACCESS_FORBIDDEN":
      switch use {
      case .media: (.configError, "does not let the account upload; ask its operator")
      case .room: (.forbidden, "does not let the account send there; join the room or ask for leave to send")
      case .profile: (.forbidden, "does not let the account change its avatar; ask its operator")
      }
    case "M_NOT_FOUND", "M_ROOM_NOT_FOUND":
      switch use {
      case .media: (.configError, "has no such media; check its URL")
      case .room: (.roomGone, "has no such room")
      case .profile: (.configError, "has no profile of the account; check its URL")
      }
    case "M_BAD_JSON", "M_NOT_JSON", "M_INVALID_PARAM", "M_MISSING_PARAM":
      use == .media
        ? (.configError, "does not understand the upload; check its version")
        : (.malformedRequest, "does not understand the message")
    default: nil
    }
  }

  private func finding(_ answer: MatrixAnswer) -> (Cause, String) {
    switch answer.status {
    case 200..<300, 511:
      (.network, "answered with something else than Matrix; check its URL, and whether a login page stands before it")
    case 300..<400: (.configError, "wants to be called at another address; check its URL")
    case 401: (.authExpired, "does not accept the access token; log in again and replace it")
    case 407: (.configError, "cannot be reached, because the proxy wants credentials")
    case 408: (.timeout, "gave up waiting")
    case 413: (.rejected, "does not take anything of that size")
    case 429: (.rateLimited, "asks to be called less often")
    case 500...: (.serverBusy, "cannot serve at the moment")
    case _ where !answer.isMatrix:
      (.serverBusy, "answered with something else than Matrix; check its URL, and whether a proxy stands before it")
    case 403 where use == .room: (.forbidden, "does not let the account send there")
    case 403 where use == .profile: (.forbidden, "does not let the account change its avatar")
    case 404 where use == .room: (.roomGone, "has no such room")
    default:
      switch use {
      case .media: (.configError, "refuses the upload")
      case .room: (.rejected, "refuses the message")
      case .profile: (.rejected, "refuses the avatar")
      }
    }
  }
}
