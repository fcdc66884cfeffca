import HTTP
import Matrix
import Messages
import Secrets

/// The homeserver that photos behind `mxc://` are fetched through, by conversation; nil when there is none.
package typealias Homeservers = @Sendable (ConversationID) -> MatrixAccount?

extension MatrixAccount {
  /// The request for an object of the homeserver's media, or of another one's that it knows.
  ///
  /// Source: Matrix specification, client-server API v1.11, `GET /_matrix/client/v1/media/download`.
  ///
  /// - Returns: nil when `url` is no `mxc://SERVER/ID`.
  func download(_ url: String) -> (url: String, headers: [HTTPHeader])? {
    let parts = url.dropFirst("mxc://".count).split(separator: "/", omittingEmptySubsequences: false)
    // Dots would lead to another place of the homeserver, which knows our token.
    guard url.hasPrefix("mxc://"), parts.count == 2,
      parts.allSatisfy({ !["", ".", ".."].contains($0) && $0.utf8.count <= 255 })
    else { return nil }
    let path = parts.map { String($0).percentEncoded() }.joined(separator: "/")
    let base = homeserver.hasSuffix("/") ? String(homeserver.dropLast()) : homeserver
    let authorization = HTTPHeader("Authorization", "Bearer \(token.current.reveal())")
    return ("\(base)/_matrix/client/v1/media/download/\(path)", [authorization])
  }
}
