/// How to reach the servers of a cluster.
package struct NATSOptions: Sendable {
  /// `nats://HOST:PORT`, or `tls://HOST:PORT`.
  package let servers: [NATSAddress]
  package let token: String?
  /// A file of trusted authorities, beside those of the system.
  package let authority: String?
  /// This host's name, for the servers' lists of connections.
  package let name: String

  package init(servers: [NATSAddress], token: String?, authority: String? = nil, name: String) {
    self.servers = servers
    self.token = token
    self.authority = authority
    self.name = name
  }

  /// If one server speaks TLS, all do: the token must not leave in the clear.
  package var isSecure: Bool { servers.contains(where: \.isSecure) }
}

/// The address of a server.
package struct NATSAddress: Sendable, Hashable, CustomStringConvertible {
  package let host: String
  package let port: UInt16
  package let isSecure: Bool

  /// nil unless it is `nats://HOST[:PORT]` or `tls://HOST[:PORT]`; the port is 4222 by default.
  package init?(_ text: String) {
    guard let scheme = ["nats://", "tls://"].first(where: text.hasPrefix) else { return nil }
    isSecure = scheme == "tls://"
    var rest = text.dropFirst(scheme.count)
    if rest.hasPrefix("[") {
      guard let end = rest.firstIndex(of: "]") else { return nil }
      host = String(rest[rest.index(after: rest.startIndex)..<end])
      rest = rest[rest.index(after: end)...]
      guard !host.isEmpty, host.allSatisfy({ $0.isASCII && ($0.isHexDigit || ":.".contains($0)) }) else { return nil }
    } else {
      host = String(rest.prefix { $0 != ":" })
      rest = rest.dropFirst(host.count)
      guard !host.isEmpty, host.utf8.count <= 253,
        host.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) })
      else { return nil }
    }
    guard !rest.isEmpty else {
      port = 4222
      return
    }
    guard rest.first == ":", let number = UInt16(rest.dropFirst()), number > 0, rest.dropFirst().first != "+" else {
      return nil
    }
    port = number
  }

  package var description: String {
    "\(isSecure ? "tls" : "nats")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
  }
}
