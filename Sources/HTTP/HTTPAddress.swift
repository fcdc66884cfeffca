import CCurl

/// The parts of an `http://` or `https://` URL, as libcurl parses it.
package struct HTTPAddress: Hashable, Sendable {
  package let scheme: String
  /// As written; an IPv6 address is in brackets.
  package let host: String
  /// nil means the scheme's default.
  package let port: Int?
  /// Escaped as written, dots included; begins with `/`.
  package let path: String
  /// Escaped as written, without its `?`.
  package let query: String?

  /// nil for anything but an absolute ASCII URL of the two schemes, without blanks, user, password or fragment.
  package init?(_ url: String) {
    // libcurl accepts a third slash and takes what follows for the host.
    guard url.utf8.allSatisfy({ 0x21...0x7e ~= $0 }), let start = url.firstRange(of: "://")?.upperBound,
      url[start...].first != "/", let parts = ccurl_url()
    else { return nil }
    defer { ccurl_url_free(parts) }
    guard ccurl_url_set(parts, CURLUPART_URL, url, UInt32(CURLU_PATH_AS_IS)) == CURLUE_OK,
      let scheme = Self.text(CURLUPART_SCHEME, of: parts), scheme == "http" || scheme == "https",
      let host = Self.text(CURLUPART_HOST, of: parts), !host.isEmpty,
      Self.text(CURLUPART_USER, of: parts) == nil, Self.text(CURLUPART_PASSWORD, of: parts) == nil,
      Self.text(CURLUPART_FRAGMENT, of: parts) == nil
    else { return nil }
    self.scheme = scheme
    self.host = host
    let port = Self.text(CURLUPART_PORT, of: parts).flatMap { Int($0) }
    self.port = port == (scheme == "https" ? 443 : 80) ? nil : port
    path = Self.text(CURLUPART_PATH, of: parts) ?? "/"
    query = Self.text(CURLUPART_QUERY, of: parts)
  }

  /// The value of `Host`: with the port unless it is the scheme's default.
  package var authority: String { port.map { "\(host):\($0)" } ?? host }

  /// Whether the host is this computer, by name or address.
  package var isThisComputer: Bool {
    host.lowercased() == "localhost" || IPAddress(host.filter { $0 != "[" && $0 != "]" })?.isLoopback == true
  }

  /// The absolute URL of a `Location` header in the answer of `url`, without its fragment; nil if it cannot be
  /// requested.
  package static func redirect(_ location: String, from url: String) -> String? {
    guard location.utf8.allSatisfy({ 0x21...0x7e ~= $0 }), let parts = ccurl_url() else { return nil }
    defer { ccurl_url_free(parts) }
    // A second URL is resolved relative to the first.
    guard ccurl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK,
      ccurl_url_set(parts, CURLUPART_URL, location, 0) == CURLUE_OK,
      ccurl_url_set(parts, CURLUPART_FRAGMENT, nil, 0) == CURLUE_OK, let target = text(CURLUPART_URL, of: parts)
    else { return nil }
    return HTTPAddress(target) == nil ? nil : target
  }

  private static func text(_ part: CURLUPart, of parts: OpaquePointer) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard ccurl_url_get(parts, part, &text) == CURLUE_OK, let text else { return nil }
    defer { ccurl_free(text) }
    return String(cString: text)
  }
}
