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

  /// As `isOn`, but asks once a process. The room is asked again right before a message is sent in the clear.
  func isOnAtFirst(in room: String) async throws(DeliveryError) -> Bool {
    if known.contains(room) { return true }
    if known.isAsked(room) { return false }
    let isOn = try await isOn(in: room)
    known.noteAsked(room)
    return isOn
  }

  static func refusal(of room: Address) -> DeliveryError {
    DeliveryError(
      .encryptedRoom,
      "the room \(room) is encrypted and `encryption: never` is set, so nothing is sent there; "
        + "set `encryption: auto`, send to a room without encryption, or cancel what waits")
  }

  /// The room was encrypted, or replaced, while the message was on its way.
  static func change(of room: Address) -> DeliveryError {
    DeliveryError(.conflict, "the room \(room) has just been encrypted or replaced; the next attempt encrypts for it")
  }

  static func openPhoto(for room: Address) -> DeliveryError {
    DeliveryError(
      .encryptedRoom,
      "the room \(room) is encrypted, and its photos would not be; set `seal: matrix` for it, or cancel what waits")
  }
}
