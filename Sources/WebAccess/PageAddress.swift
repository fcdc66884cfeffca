/// Where browsers find the page: its names, each as in `Host`, and the scheme.
package struct PageAddress: Sendable, Equatable {
  /// The first is that of links.
  package let names: [String]
  /// The scheme that browsers speak, to the page or to the reverse proxy in front of it.
  package let isSecure: Bool
  /// Whether a browser may be told to never come without TLS again. The page's own name is served without it, too.
  package let isOutside: Bool

  /// - Parameter own: the page's own name, for 127.0.0.1. The others are of the configuration.
  /// - Throws: `WebError` if nobody could reach the page, or others could listen.
  package init(_ place: ListeningSocket.Place, own: String, names: [String], hasCertificate: Bool) throws(WebError) {
    switch place {
    case .loopback(let port):
      let local = "\(own):\(port)"
      self.names = hasCertificate ? names + [local] : [local] + names
      (isSecure, isOutside) = (hasCertificate, false)
    case .network(let port):
      guard hasCertificate else {
        throw WebError(
          "the page listens on 127.0.0.1 alone without TLS; set web.certificate and web.key, or correct ListenStream or --address"
        )
      }
      guard !names.isEmpty else {
        throw WebError(
          "the page needs a name on an address other than 127.0.0.1; set web.names, such as photos.example.org:\(port)")
      }
      (self.names, isSecure, isOutside) = (names, true, true)
    case .proxy:
      guard !names.isEmpty else {
        throw WebError("the page behind a proxy needs the proxy's name; set web.names, such as photos.example.org")
      }
      (self.names, isSecure, isOutside) = (names, true, true)
    }
  }

  /// The address that links begin with.
  package var origin: String { Self.origin(names[0], isSecure: isSecure) }

  /// The address under each name.
  package var origins: [String] { names.map { Self.origin($0, isSecure: isSecure) } }

  package static func origin(_ name: String, isSecure: Bool) -> String { "\(isSecure ? "https" : "http")://\(name)" }
}
