/// The parts of a URL that the rules check. The HTTP client parses it again.
package struct WebAddress: Sendable, Equatable {
  package let scheme: String
  /// As written; an IPv6 address is in brackets.
  package let host: String
  package let port: Int?
  package let hasQuery: Bool

  /// nil for anything but an absolute ASCII URL of these schemes, without blanks, user, password or fragment.
  package init?(_ text: String, schemes: [String] = ["http", "https"]) {
    let pattern =
      /(?<scheme>[a-z0-9]+):\/\/(?<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:(?<port>[0-9]{1,5}))?(?<rest>[\/?].*)?/
    guard text.utf8.allSatisfy({ 0x21...0x7e ~= $0 }), !text.contains("#"),
      let parts = text.wholeMatch(of: pattern)?.output, schemes.contains(String(parts.scheme))
    else { return nil }
    port = parts.port.flatMap { Int($0) }
    if let port, !(1...65_535 ~= port) { return nil }
    scheme = String(parts.scheme)
    host = String(parts.host)
    hasQuery = parts.rest?.contains("?") == true
  }

  /// Whether it is unencrypted.
  package var isPlain: Bool { scheme == "http" }
}

/// Whether the URL is unencrypted.
package func isPlain(_ url: String) -> Bool { WebAddress(url)?.isPlain == true }
