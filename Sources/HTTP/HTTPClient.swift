import Messages
import Signalling
import Synchronization

/// How a client connects. Nothing comes from the environment.
package struct HTTPOptions: Hashable, Sendable {
  /// The PEM file of trusted certificate authorities; nil means the system's.
  package var authorityFile: String?
  /// The URL of a proxy, without user and password; nil means none.
  package var proxy: String?
  package var userAgent = "photospool"
  /// Connections kept for further requests.
  package var idleConnections = 32

  package init() {}
}

/// Sends HTTP/1.1 requests with libcurl on one thread. Thread and library start with the first request. Connections are
/// reused. Certificates are always verified, redirects are not followed, cookies are not kept, and no signals are
/// raised. HTTP/2 is not used: each upload has its own connection, so a slow one delays no other.
package final class HTTPClient: Sendable {
  private let options: HTTPOptions
  private let started = Mutex<TransferThread?>(nil)
  /// The last URL and its parts, because many requests go to one place. It may contain a signature and is not shown.
  private let last = Mutex<(url: String, address: HTTPAddress)?>(nil)

  package init(_ options: HTTPOptions = HTTPOptions()) { self.options = options }

  deinit { started.withLock { $0?.stop() } }

  private var thread: TransferThread {
    started.withLock { started in
      let thread = started ?? TransferThread(options)
      started = thread
      return thread
    }
  }

  private func address(of url: String) -> HTTPAddress? {
    if let last = last.withLock({ $0 }), last.url == url { return last.address }
    guard let address = HTTPAddress(url) else { return nil }
    last.withLock { $0 = (url, address) }
    return address
  }

  /// Sends a request once and waits for the whole answer, whatever its status.
  ///
  /// libcurl retries only if the peer had closed a kept connection before answering. Cancelling the task ends the
  /// transfer at once; it may have had its effect.
  ///
  /// - Parameter progress: gets the sent share of the body, 0 to 1, never falling. Called on the client's thread; it
  ///   must return quickly.
  package func send(
    _ request: HTTPRequest, progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) async throws(HTTPError) -> HTTPResponse {
    guard let address = address(of: request.url) else { throw HTTPError(reason: .badURL, host: "", wasNeverSent: true) }
    if let header = request.headers.first(where: { !$0.isSendable }) {
      throw HTTPError(reason: .badHeader(header.name), host: address.authority, wasNeverSent: true)
    }
    let thread = thread
    let cancelled = OneWayFlag()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        thread.begin(
          TransferOrder(
            request: request, host: address.authority, progress: progress, cancelled: cancelled,
            continuation: continuation))
      }
    } onCancel: {
      cancelled.set()
      thread.wake()
    }
    return try result.get()
  }
}

extension HTTPHeader {
  /// Whether it is one line, and its name a token (RFC 9110, section 5.6.2).
  var isSendable: Bool {
    !name.isEmpty && name.utf8.allSatisfy { $0.isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains($0) }
      && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
  }
}
