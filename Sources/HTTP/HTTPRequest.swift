/// One request, whole: nothing of it is read from anywhere else later.
package struct HTTPRequest: Sendable {
  package enum Method: String, Sendable {
    case get = "GET"
    case head = "HEAD"
    case put = "PUT"
    case post = "POST"
    case delete = "DELETE"
  }

  package var method: Method
  /// `http://` or `https://`, escaped as it is to be sent: what is signed is what goes out.
  package var url: String
  /// Sent in this order. Nothing is added but `Host`, `Accept`, `User-Agent` and `Content-Length`.
  package var headers: [HTTPHeader]
  /// Sent with `put` and `post`, also when it is empty.
  package var body: [UInt8]
  package var limits: HTTPLimits
  /// Whom the request may reach.
  package var reach = Reach.anyAddress
  /// Bytes of the body of an answer of 2xx that are waited for, a little: it is answered with what has come, once its head
  /// and so much is there, and what comes behind that is nobody's. nil waits for the whole body.
  package var successBytes: Int?
  /// Takes the answer's body as it comes; nil collects it.
  package var sink: (any HTTPSink)?

  /// Whom a request may reach. What counts is the address that is connected to, whatever its name says.
  package enum Reach: Sendable {
    case anyAddress
    /// Addresses of the internet, as `PublicAddress` has them. Through a proxy, the proxy has to see to that.
    case publicAddresses
    /// This computer alone, whatever its name leads to, and never through a proxy.
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

/// URLs and headers carry signatures and tokens, so a request describes itself without them.
extension HTTPRequest: CustomStringConvertible, CustomReflectable {
  package var description: String { "\(method.rawValue) with \(body.count) bytes" }
  package var customMirror: Mirror { Mirror(self, children: ["method": method, "bytes": body.count]) }
}

/// A header's line.
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

/// How long a request may take, and how much may be answered.
///
/// Whatever they are, a connection is given up, or not come about, once the other end's kernel has acknowledged or taken
/// nothing of what was sent for 10 s: the line is gone.
package struct HTTPLimits: Hashable, Sendable {
  /// From looking up the name until the connection is there, TLS included.
  package var connect = Duration.seconds(30)
  /// Without a byte in either direction. Counted in whole seconds, at least one; libcurl looks at the last few seconds
  /// together, so that it may take six more.
  package var stall = Duration.seconds(60)
  /// From the beginning to the end; nil is without end, since a slow line is no fault.
  package var total: Duration?
  /// Bytes of an answer's body.
  package var replyBytes = 1 << 20

  package init() {}
}
