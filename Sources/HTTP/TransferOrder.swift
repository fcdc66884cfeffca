import Signalling

/// A transfer to begin, and where to report its result.
struct TransferOrder: Sendable {
  let request: HTTPRequest
  let host: String
  let progress: @Sendable (Double) -> Void
  /// Set with the cancellation of the transfer's task, perhaps before the transfer begins.
  let cancelled: OneWayFlag
  let continuation: CheckedContinuation<Result<HTTPResponse, HTTPError>, Never>
}
