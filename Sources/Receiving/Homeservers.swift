import HTTP
import Matrix
import Messages
import Secrets

/// The homeserver for `mxc://` photos, by conversation, if any.
package typealias Homeservers = @Sendable (ConversationID) -> MatrixAccount?

extension MatrixAccount {
  /// The request for a media object of this homeserver or of one that it knows; nil if `url` is not `mxc://SERVER/ID`.
  /// Source: Matrix specification, client-server API v1.11, `GET /_matrix/client/v1/media/download`.
  func download(_ url: String) -> (url: String, headers: [HTTPHeader])? {
    let parts = url.dropFirst("mxc://".count).split(separator: "/", omittingEmptySubsequences: false)
    // Dots would lead to another path on the homeserver, which gets our token.
    guard url.hasPrefix("mxc://"), parts.count == 2,
      parts.allSatisfy({ !["", ".", ".."].contains($0) && $0.utf8.count <= 255 })
    else { return nil }
    let path = parts.map { String($0).percentEncoded() }.joined(separator: "/")
    let base = homeserver.hasSuffix("/") ? String(homeserver.dropLast()) : homeserver
    let authorization = HTTPHeader("Authorization", "Bearer \(token.current.reveal())")
    return ("\(base)/_matrix/client/v1/media/download/\(path)", [authorization])
  }
}
