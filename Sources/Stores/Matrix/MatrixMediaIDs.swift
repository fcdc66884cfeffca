import HTTP
import Matrix
import Messages
import Signalling
import Synchronization

/// A homeserver's id for one object.
struct MatrixMediaID: Sendable, Equatable {
  /// `mxc://SERVER/ID`.
  let uri: String
  /// `SERVER/ID`, each escaped for a path.
  let path: String
  /// The object that may be stored under the id, because the answer to its upload was lost.
  var triedFor: ObjectName?
  var expiresAt: Timestamp?

  init?(_ uri: String) {
    let parts = uri.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    let isSafe = uri.utf8.allSatisfy { 0x21...0x7e ~= $0 } && uri.utf8.count <= 1024
    guard isSafe, parts.count == 4, parts[0] == "mxc:", parts[1].isEmpty,
      parts[2...].allSatisfy({ !["", ".", ".."].contains($0) })
    else { return nil }
    self.uri = uri
    path = "\(parts[2].percentEncoded(keeping: ":[]"))/\(parts[3].percentEncoded())"
  }
}

/// Media ids from the homeserver, requested one by one. Ids of failed uploads are used again, because an account may
/// have only a few unused ones (five with Synapse), for a day. One that may hold an object serves that object only.
final class MatrixMediaIDs: Sendable {
  private let server: MatrixServer
  private let unused = Mutex<[MatrixMediaID]>([])
  private let isUnknown = OneWayFlag()

  /// How long an id is kept if the homeserver does not say, in seconds.
  private static let memory = 86_400.0

  init(_ server: MatrixServer) { self.server = server }

  /// An id for `object`: the one of its former attempt, or one that holds nothing; nil if the homeserver gives none.
  func take(for object: ObjectName, now: Timestamp = .now()) async throws(DeliveryError) -> MatrixMediaID? {
    if isUnknown.isSet { return nil }
    let kept = unused.withLock { unused -> MatrixMediaID? in
      unused.removeAll { $0.expiresAt.map { $0 < now } ?? false }
      let index = unused.firstIndex { $0.triedFor == object } ?? unused.firstIndex { $0.triedFor == nil }
      return index.map { unused.remove(at: $0) }
    }
    if let kept { return kept }
    let answer = try await server.ask(.post, "/_matrix/media/v1/create", Array("{}".utf8))
    if answer.code == "M_UNRECOGNIZED" {
      isUnknown.set()
      return nil
    }
    // Waiting would last until ids of a dead process expire.
    if answer.code == "M_LIMIT_EXCEEDED" { return nil }
    guard answer.isSuccess else { throw server.faults.error(answer) }
    guard var id = answer.member("content_uri").flatMap({ MatrixMediaID($0) }) else {
      throw DeliveryError(.serverBusy, "\(server.name) answered without an id for media")
    }
    let expiresAt: Double? = answer.member("unused_expires_at")
    id.expiresAt =
      expiresAt.flatMap { Int64(exactly: $0.rounded()) }.map { Timestamp(milliseconds: $0) }
      ?? now.advanced(seconds: Self.memory)
    return id
  }

  /// Returns the id of a failed upload.
  func giveBack(_ id: MatrixMediaID, triedFor object: ObjectName?) {
    var id = id
    id.triedFor = object
    unused.withLock { [id] in $0.append(id) }
  }
}
