/// What the rules ask of a URL. The client that uses it reads it again, in all its parts.
package struct WebAddress: Sendable, Equatable {
  package let scheme: String
  /// As written; an IPv6 address is in brackets.
  package let host: String
  package let port: Int?
  package let hasQuery: Bool

  /// nil for anything but an absolute URL of these schemes in ASCII, without a blank, user, password or fragment.
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

  /// Whether everybody on the way can read along.
  package var isPlain: Bool { scheme == "http" }

  /// Whether the host is this computer by its name or number.
  package var isLoopback: Bool {
    let host = host.lowercased()
    return host == "localhost" || host == "[::1]" || host.wholeMatch(of: /127(\.[0-9]{1,3}){3}/) != nil
  }
}

/// Whether everybody on the way to this URL can read along.
package func isPlain(_ url: String) -> Bool { WebAddress(url)?.isPlain == true }
