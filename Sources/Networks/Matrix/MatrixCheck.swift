import HTTP
import Matrix
import Messages

/// The tests of `photospool check` on a homeserver.
extension MatrixNetwork {
  package func check() async throws(DeliveryError) -> String {
    "sends as \(try await history.userID()) through \(server.name); rooms' homeservers can read texts and photos' keys"
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
      if try await encryption.isOn(in: room) { throw MatrixEncryption.refusal(of: address) }
      return "\(user) is in the room"
    }
  }

  /// The encrypted rooms of the account, by ids and aliases.
  package func closedConversations() async throws(DeliveryError) -> [ClosedConversation] {
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
