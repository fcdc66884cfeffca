import HTTP
import Matrix
import Messages

/// The tests of `photospool check` on a homeserver.
extension MatrixNetwork {
  package func check() async throws(DeliveryError) -> String {
    let says = "sends as \(try await history.userID()) through \(server.name)"
    let open = "homeservers of rooms without encryption can read texts and photos' keys"
    guard let roomKeys else { return "\(says); \(open); nothing is sent to encrypted rooms" }
    return "\(says); \(try await standing(of: roomKeys.device)); \(open)"
  }

  /// A part of a sentence about the device. Nothing is made or published.
  private func standing(of device: MatrixOwnDevice) async throws(DeliveryError) -> String {
    let (user, id) = try await device.whoami()
    guard let own = try await device.stored(for: user), own.device == id, own.isPublished else {
      return "the device \(id) gets keys with the first message to an encrypted room"
    }
    let keys = MatrixUserKeys(try await device.keys(of: user), of: user)
    guard let published = keys.devices.first(where: { $0.id == id }),
      published.signingKey == own.signingKey.publicKey, published.identityKey == own.identityKey.publicKey
    else {
      throw DeliveryError(
        .configError, "\(server.name) has other keys of the device \(id), or none; log in anew and replace the token")
    }
    let maker = own.crossSigning?.master == nil ? "another client made" : "photospool made"
    return published.isCrossSigned
      ? "the device \(id) is signed by the identity that \(maker)" : "the device \(id) is not signed yet"
  }

  /// A part of a sentence about who can read messages to an encrypted room.
  private func readers(of room: Address, with roomKeys: MatrixRoomKeys) async throws(DeliveryError) -> String {
    let (user, device) = try await roomKeys.device.whoami()
    let audience = try await roomKeys.audience(of: rooms.id(of: room), as: user, device)
    let all = audience.receivers.count + audience.leftOut.count
    var says = "it is encrypted, and \(audience.receivers.count) of \(all) other devices get keys"
    if !audience.leftOut.isEmpty {
      let names = audience.leftOut.prefix(20).map { escaped("\($0.user) \($0.id)", limit: 300) }
      says += "; left out, because their owners have not verified them: \(names.joined(separator: ", "))"
    }
    return says
  }

  /// Asks for the account's membership, which a homeserver refuses as it would refuse messages, and whether the room is
  /// encrypted.
  package func checkConversation(_ address: Address) async throws(DeliveryError) -> String? {
    try await rooms.inRoom(of: address) { room throws(DeliveryError) in
      let user = try await history.userID()
      let answer = try await ask("rooms/\(room)/state/m.room.member/\(user.percentEncoded())")
      guard try server.need("membership", of: answer) == "join" else {
        throw DeliveryError(.forbidden, "\(server.name) has the account in that room no more; join the room again")
      }
      guard try await encryption.isOn(in: room) else { return "\(user) is in the room" }
      guard let roomKeys else { throw MatrixEncryption.refusal(of: address) }
      return "\(user) is in the room; \(try await readers(of: address, with: roomKeys))"
    }
  }

  /// The encrypted rooms of the account, by ids and aliases, if nothing is sent there.
  package func closedConversations() async throws(DeliveryError) -> [ClosedConversation] {
    if roomKeys != nil { return [] }
    let joined: [String] = try server.need("joined_rooms", of: await ask("joined_rooms"))
    var closed: [ClosedConversation] = []
    for room in joined where try await encryption.isOn(in: room.percentEncoded()) {
      // Homeservers need not support this; the id always works.
      let aliases: [String] = try await ask("rooms/\(room.percentEncoded())/aliases").member("aliases") ?? []
      closed.append(
        ClosedConversation(
          names: ([room] + aliases).map(Address.init(unchecked:)),
          error: MatrixEncryption.refusal(of: Address(unchecked: room))))
    }
    return closed
  }

  private func ask(_ path: String) async throws(DeliveryError) -> MatrixAnswer {
    try await server.ask(.get, "/_matrix/client/v3/\(path)")
  }
}
