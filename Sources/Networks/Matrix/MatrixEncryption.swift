import Matrix
import Messages

/// Prevents messages in the clear in encrypted rooms. "Not encrypted" is never cached, because encryption can be
/// enabled at any time: every message asks right before it is sent. "Encrypted" is cached for good.
struct MatrixEncryption: Sendable {
  let server: MatrixServer
  let known: EncryptedRooms

  /// - Parameter room: the room's id, escaped for a path.
  /// - Throws: `forbidden` and the like if the homeserver does not answer.
  func isOn(in room: String) async throws(DeliveryError) -> Bool {
    if known.contains(room) { return true }
    let answer = try await server.ask(.get, "/_matrix/client/v3/rooms/\(room)/state/m.room.encryption")
    // The only answer that means that the room lacks this state.
    if answer.status == 404 && answer.code == "M_NOT_FOUND" { return false }
    guard answer.isSuccess else { throw server.faults.error(answer) }
    await known.add(room)
    return true
  }

  static func refusal(of room: Address) -> DeliveryError {
    DeliveryError(
      .encryptedRoom,
      "the room \(room) is encrypted and photospool cannot encrypt to it yet, so nothing is sent there; "
        + "send to a room without encryption, or cancel what waits")
  }
}
