import HTTPTypes
import Hummingbird
import WebAccess

/// The checks that every request has to pass before anything else looks at it.
///
/// A web site cannot forge these headers in a browser. Host stops names that somebody else points to this computer (DNS
/// rebinding). Sec-Fetch-Site stops forms, scripts and pictures of other origins, also of other ports.
struct Gate: Sendable {
  private let address: PageAddress

  init(_ address: PageAddress) { self.address = address }

  private static let fetchSite = HTTPField.Name("sec-fetch-site")
  /// Only a second one is among the fields of a request.
  private static let secondHost = HTTPField.Name("host")

  /// - Throws: `WebProblem` if the request may come from somewhere else.
  func check(_ head: HTTPRequest) throws(WebProblem) {
    guard let host = head.authority, address.names.contains(host) else {
      let pages = address.origins.map { "\($0)/" }.joined(separator: " or ")
      throw WebProblem(.misdirectedRequest, "This page is \(pages). The setting web.names adds a name.")
    }
    if let name = Self.secondHost, head.headerFields.contains(name) {
      throw WebProblem(.badRequest, "The request names two hosts.")
    }
    let isReading = head.method == .get || head.method == .head
    switch Self.fetchSite.flatMap({ head.headerFields[$0] }) {
    case "same-origin": return
    case "none" where isReading: return
    // A phone posts its shares itself. A web site cannot say `none`.
    case "none" where head.method == .post && head.path == "/share": return
    case nil:
      let origin = head.headerFields[.origin]
      if origin == PageAddress.origin(host, isSecure: address.isSecure) || origin == nil && isReading { return }
    default: break
    }
    throw WebProblem(.forbidden, "Another web page asked for this. Open it from this page, or by its link.")
  }

  /// The headers of every answer. Nothing private is kept by a browser, and no other origin may use it.
  func secure(_ response: inout Response) {
    if address.isOutside { response.headers[.strictTransportSecurity] = "max-age=31536000" }
    for (name, value) in Self.headers where response.headers[name] == nil { response.headers[name] = value }
  }

  private static let headers: [(HTTPField.Name, String)] = [
    (
      "content-security-policy",
      "default-src 'none'; style-src 'self'; img-src 'self' blob:; script-src 'self'; connect-src 'self'; manifest-src 'self'; "
        + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        + "trusted-types photospool"
    ),
    ("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"), ("cross-origin-opener-policy", "same-origin"),
    ("cache-control", "no-store"),
  ].compactMap { name, value in HTTPField.Name(name).map { ($0, value) } }
}
