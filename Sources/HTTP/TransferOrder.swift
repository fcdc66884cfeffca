import Synchronization

/// A transfer to begin, and where to report its result.
struct TransferOrder: Sendable {
  let request: HTTPRequest
  let host: String
  let progress: @Sendable (Double) -> Void
  let ticket: TransferTicket
  let continuation: CheckedContinuation<Result<HTTPResponse, HTTPError>, Never>
}

/// Tells the thread that a transfer's task was cancelled, perhaps before the transfer begins.
final class TransferTicket: Sendable {
  private let flag = Atomic<Bool>(false)

  func cancel() { flag.store(true, ordering: .releasing) }
  var isCancelled: Bool { flag.load(ordering: .acquiring) }
}
