import HTTP
import Matrix
import Messages

/// Publishes into Matrix rooms through one account's homeserver.
///
/// The message's id is the transaction's id: a homeserver answers a repeated transaction of one device with the first
/// event. It forgets that within a day, and other devices do not share it. So after a long time, or in a new process,
/// the message is first looked up in the room by the id in our events. That also covers a message in progress while the
/// token changed to another device.
///
/// Events are not encrypted: homeservers of a room can read them, with the keys of sealed photos. The seal protects
/// from those who have only the media. Nothing is sent to an encrypted room: each message asks right before it is sent,
/// and each photo before its upload.
package struct MatrixNetwork: Network {
  package let name: String
  package let takesBatches = true
  let server: MatrixServer
  let rooms: MatrixRooms
  let history: MatrixHistory
  let encryption: MatrixEncryption
  private let avatar: MatrixAvatar
  private let clock: @Sendable () -> Timestamp
  private let startedAt: Timestamp

  /// How long a homeserver certainly knows a transaction, in seconds. Synapse keeps it for a day, others for half an
  /// hour.
  package static let homeserverMemory = 1200.0

  /// - Throws: `.configError` for an invalid URL.
  package init(
    name: String = "matrix", _ account: MatrixAccount, encryptedRooms: EncryptedRooms = EncryptedRooms(),
    client: HTTPClient, limits: HTTPLimits = HTTPLimits(),
    clock: @escaping @Sendable () -> Timestamp = { .now() }
  ) throws(DeliveryError) {
    self.name = name
    server = try MatrixServer(account, for: .room, client: client, limits: limits)
    rooms = MatrixRooms(server, clock: clock)
    history = MatrixHistory(server)
    encryption = MatrixEncryption(server: server, known: encryptedRooms)
    avatar = MatrixAvatar(server: try MatrixServer(account, for: .profile, client: client, limits: limits))
    self.clock = clock
    startedAt = clock()
  }

  /// A profile photo becomes the account's avatar, which everybody can see. It must be in the homeserver's media and
  /// not sealed.
  ///
  /// - Throws: the error of `MatrixFaults`; `rejected` for a profile photo that cannot be an avatar.
  package func publish(_ message: OutgoingMessage) async throws(DeliveryError) -> Publication {
    switch message.content {
    case .photo, .text: break
    case .profile(let photo):
      try await avatar.set(photo, of: history.userID())
      return Publication(publishedAt: clock(), remoteID: nil, attachment: photo)
    case .profileRemoval:
      try await avatar.remove(of: history.userID())
      return Publication(publishedAt: clock(), remoteID: nil, attachment: nil)
    }
    let content = try MatrixContent.encoded(message)
    try MatrixContent.checkLength(content)
    return try await rooms.inRoom(of: message.address) { room throws(DeliveryError) in
      if isForgotten(message), let event = try await history.event(of: message.message, in: room) {
        return event.publication
      }
      if try await encryption.isOn(in: room) {
        // It may have been published before the room was encrypted.
        if message.firstTriedAt != nil, let event = try await history.event(of: message.message, in: room) {
          return event.publication
        }
        throw MatrixEncryption.refusal(of: message.address)
      }
      return try await send(message, content, to: room)
    }
  }

  package var textLimit: (@Sendable (String) throws(DeliveryError) -> Void)? {
    { text throws(DeliveryError) in
      let message = OutgoingMessage(
        message: MessageID(unchecked: String(repeating: "0", count: 32)), request: "",
        address: Address(unchecked: ""), inbox: InboxID(unchecked: ""), content: .text(text))
      try MatrixContent.checkLength(MatrixContent.encoded(message))
    }
  }

  package func reserve(_ message: OutgoingMessage) -> String? { nil }
  package func stop() {}

  /// - Throws: `encryptedRoom`, before a photo is uploaded for a room that cannot get it.
  package func admit(_ address: Address) async throws(DeliveryError) {
    if address.isProfile { return }
    try await rooms.inRoom(of: address) { room throws(DeliveryError) in
      if try await encryption.isOn(in: room) { throw MatrixEncryption.refusal(of: address) }
    }
  }

  /// Searches the account's last events in the room. A missing message may still have been published; publishing it
  /// again under its id finds out.
  package func find(_ message: TriedMessage) async throws(DeliveryError) -> Sighting {
    // An avatar can be set twice. Only the attempt that set it knew its photo.
    if message.address.isProfile { return .unknown }
    return try await rooms.inRoom(of: message.address) { room throws(DeliveryError) in
      try await history.event(of: message.message, in: room).map { .published($0.publication) } ?? .unknown
    }
  }

  /// Whether an earlier attempt may have succeeded and be forgotten by the homeserver.
  private func isForgotten(_ message: OutgoingMessage) -> Bool {
    guard let first = message.firstTriedAt else { return false }
    return first < startedAt || clock().seconds(since: first) > Self.homeserverMemory
  }

  private func send(
    _ message: OutgoingMessage, _ content: [UInt8], to room: String
  ) async throws(DeliveryError) -> Publication {
    let path = "/_matrix/client/v3/rooms/\(room)/send/m.room.message/\(message.message.text.percentEncoded())"
    let id: String = try server.need("event_id", of: await server.ask(.put, path, content))
    guard case .photo(let attachment) = message.content else {
      return Publication(publishedAt: clock(), remoteID: id, attachment: nil)
    }
    // An earlier attempt may have succeeded with an earlier upload.
    if message.firstTriedAt != nil, let standing = try await history.event(id, in: room) { return standing.publication }
    return Publication(publishedAt: clock(), remoteID: id, attachment: attachment)
  }
}
