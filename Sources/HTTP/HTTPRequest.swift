/// A complete request.
package struct HTTPRequest: Sendable {
  package enum Method: String, Sendable {
    case get = "GET"
    case head = "HEAD"
    case put = "PUT"
    case post = "POST"
    case delete = "DELETE"
  }

  package var method: Method
  /// `http://` or `https://`, escaped as it is sent and signed.
  package var url: String
  /// Sent in this order, with `Host`, `Accept`, `User-Agent` and `Content-Length` added.
  package var headers: [HTTPHeader]
  /// Sent with `put` and `post`, even if empty.
  package var body: [UInt8]
  package var limits: HTTPLimits
  package var reach = Reach.anyAddress
  /// The bytes of a 2xx answer's body to wait for, briefly: the request ends once its head and this much have arrived.
  /// nil waits for the whole body.
  package var successBytes: Int?
  /// Receives the answer's body; nil collects it.
  package var sink: (any HTTPSink)?

  /// The addresses that a request may connect to, whatever their names.
  package enum Reach: Sendable {
    case anyAddress
    /// Addresses of the internet, as in `IPAddress.isPublic`. A proxy has to enforce this itself.
    case publicAddresses
    /// This computer only, and never through a proxy.
    case thisComputer
  }

  package init(
    _ method: Method, _ url: String, headers: [HTTPHeader] = [], body: [UInt8] = [], limits: HTTPLimits = HTTPLimits()
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.limits = limits
  }
}

/// Descriptions leave out URLs and headers, which may contain signatures and tokens.
extension HTTPRequest: CustomStringConvertible, CustomReflectable {
  package var description: String { "\(method.rawValue) with \(body.count) bytes" }
  package var customMirror: Mirror { Mirror(self, children: ["method": method, "bytes": body.count]) }
}

package struct HTTPHeader: Hashable, Sendable {
  package let name: String
  package let value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

extension HTTPHeader: CustomStringConvertible, CustomReflectable {
  package var description: String { name }
  package var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

/// Time and size limits. In addition, a connection ends if the peer's kernel acknowledges or accepts no data for 10 s,
/// and so does an attempt to connect.
package struct HTTPLimits: Hashable, Sendable {
  /// From resolving the name to the end of the TLS handshake.
  package var connect = Duration.seconds(30)
  /// Without a byte in either direction, in whole seconds, at least one. libcurl averages the last seconds, which may
  /// add six.
  package var stall = Duration.seconds(60)
  /// For the whole request; nil means no limit, because slow connections are not errors.
  package var total: Duration?
  /// The size limit of an answer's body.
  package var replyBytes = 1 << 20

  package init(total: Duration? = nil) { self.total = total }
}
