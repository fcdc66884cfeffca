import HTTP
import Matrix
import Messages

/// The avatar of an account, which is its profile photo and visible to everybody. One repeatable request sets it, and
/// the homeserver copies it into the account's rooms.
struct MatrixAvatar: Sendable {
  /// For its use `profile`.
  let server: MatrixServer

  /// - Throws: `rejected` for a photo that nobody could see there.
  func set(_ photo: Attachment, of user: String) async throws(DeliveryError) {
    guard photo.url.hasPrefix("mxc://"), photo.file == nil, photo.secret == nil else {
      throw DeliveryError(
        .rejected,
        "Matrix shows avatars from a homeserver's media only, and unsealed; give the network of `profile.network` a "
          + "store of type matrix, then send it again")
    }
    let body: JSONObjectText = ["avatar_url": photo.url]
    let answer = try await ask(.put, of: user, body.bytes)
    guard answer.isSuccess else { throw server.faults.error(answer) }
  }

  /// Older homeservers lack the removal and take an empty URL.
  func remove(of user: String) async throws(DeliveryError) {
    let removal = try await ask(.delete, of: user)
    if removal.isSuccess { return }
    guard removal.code == "M_UNRECOGNIZED" || [404, 405, 501].contains(removal.status) else {
      throw server.faults.error(removal)
    }
    let answer = try await ask(.put, of: user, Array(#"{"avatar_url":""}"#.utf8))
    guard answer.isSuccess else { throw server.faults.error(answer) }
  }

  private func ask(
    _ method: HTTPRequest.Method, of user: String, _ body: [UInt8] = []
  ) async throws(DeliveryError) -> MatrixAnswer {
    try await server.ask(method, "/_matrix/client/v3/profile/\(user.percentEncoded())/avatar_url", body)
  }
}
