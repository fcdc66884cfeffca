import Matrix
import Messages

/// Keeps what is meant for an encrypted room from being sent in the clear.
///
/// "Not encrypted" is never remembered, since encryption can be switched on at any moment: every message asks right before
/// it is sent. "Encrypted" is remembered for good.
struct MatrixEncryption: Sendable {
  let server: MatrixServer
  let faults: MatrixFaults
  let known: EncryptedRooms

  /// - Parameter room: the room's id, escaped as a part of a path.
  /// - Throws: `forbidden` and the like when the homeserver does not tell.
  func isOn(in room: String) async throws(DeliveryError) -> Bool {
    if known.contains(room) { return true }
    let answer: MatrixAnswer
    do {
      answer = try await server.ask(.get, "/_matrix/client/v3/rooms/\(room)/state/m.room.encryption")
    } catch {
      throw faults.error(error)
    }
    // The only answer that means that the room has no such state.
    if answer.status == 404 && answer.code == "M_NOT_FOUND" { return false }
    guard answer.isSuccess else { throw faults.error(answer) }
    await known.add(room)
    return true
  }

  /// - Parameter name: the room as the configuration or the request names it.
  static func refusal(of name: String) -> DeliveryError {
    DeliveryError(
      .encryptedRoom,
      "the room \(name) is encrypted and photospool cannot encrypt to it yet, so nothing is sent there; "
        + "send to a room without encryption, or cancel what waits")
  }
}
