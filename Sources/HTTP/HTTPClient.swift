import Synchronization

/// How a client reaches others. Nothing of it comes from the environment.
package struct HTTPOptions: Hashable, Sendable {
  /// The PEM file with the authorities whose certificates are believed; nil is the system's.
  package var authorityFile: String?
  /// The URL of a proxy, without user and password; nil is none, whatever the environment says.
  package var proxy: String?
  /// What the header `User-Agent` says.
  package var userAgent = "photospool"
  /// Connections that are kept for the next request.
  package var idleConnections = 32

  package init() {}
}

/// Sends requests over HTTP/1.1 through libcurl, all on one thread of its own that sleeps while there are none. Both come
/// with the first request: a client that is never used costs nothing.
///
/// Connections are kept and used again. Certificates are always verified, redirects are never followed, cookies never
/// kept, and no signal is ever caused. HTTP/2 is left out: each upload has a connection for itself, so that a slow one
/// holds up no other.
package final class HTTPClient: Sendable {
  private let options: HTTPOptions
  private let started = Mutex<TransferThread?>(nil)
  /// The URL of the last request, and what it says: many go to one place. It may carry a signature, and is shown to nobody.
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

  /// Sends a request and waits for all of its answer, whatever its status.
  ///
  /// Once, except on a connection that the other side had closed before it said a word: libcurl then tries another.
  /// When the task is cancelled, the transfer ends at once; it may have had its effect.
  ///
  /// - Parameter progress: is told 0 to 1, never falling: the share of the body that was handed to the connection. It
  ///   is called on the client's thread and must return quickly.
  package func send(
    _ request: HTTPRequest, progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) async throws(HTTPError) -> HTTPResponse {
    guard let address = address(of: request.url) else { throw HTTPError(.badURL, host: "", wasNeverSent: true) }
    if let header = request.headers.first(where: { !$0.isSendable }) {
      throw HTTPError(.badHeader(header.name), host: address.authority, wasNeverSent: true)
    }
    let thread = thread
    let ticket = TransferTicket()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        thread.begin(
          TransferOrder(
            request: request, host: address.authority, progress: progress, ticket: ticket, continuation: continuation))
      }
    } onCancel: {
      ticket.cancel()
      thread.wake()
    }
    return try result.get()
  }
}

extension HTTPHeader {
  /// Whether it is one line, and its name a token (RFC 9110, section 5.6.2).
  var isSendable: Bool {
    !name.isEmpty && name.utf8.allSatisfy(Self.isOfToken)
      && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
  }

  private static func isOfToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ","), UInt8(ascii: "/"): false
    case UInt8(ascii: ":")...UInt8(ascii: "@"), UInt8(ascii: "[")...UInt8(ascii: "]"): false
    case UInt8(ascii: "{"), UInt8(ascii: "}"): false
    default: 0x21...0x7e ~= byte
    }
  }
}
