import HTTP
import Matrix
import Messages
import Seals

/// Publishes into Matrix rooms through one account's homeserver.
///
/// The message's id is the transaction's id: a homeserver answers a repeated transaction of one device with the first
/// event. It forgets that within a day, and other devices do not share it. So after a long time, or in a new process,
/// the message is first looked up in the room by the id in our events. That also covers a message in progress while the
/// token changed to another device.
///
/// Events of rooms without encryption can be read by their homeservers, with the keys of sealed photos. The seal protects
/// from those who have only the media. Each message asks right before it is sent whether the room is encrypted.
///
/// A message for an encrypted room is reserved first: it is encrypted once, and stored as it will be sent. A retry sends
/// the same bytes, and is found in the room by them.
package struct MatrixNetwork: Network {
  package let name: String
  package let takesBatches = true
  let server: MatrixServer
  let rooms: MatrixRooms
  let history: MatrixHistory
  let encryption: MatrixEncryption
  /// nil if nothing is sent to encrypted rooms.
  let roomKeys: MatrixRoomKeys?
  let account: MatrixAccount
  private let avatar: MatrixAvatar
  private let clock: @Sendable () -> Timestamp
  var now: Timestamp { clock() }
  private let startedAt: Timestamp

  /// How long a homeserver certainly knows a transaction, in seconds. Synapse keeps it for a day, others for half an
  /// hour.
  package static let homeserverMemory = 1200.0

  /// - Parameter keys: makes what encrypts; nil sends nothing to encrypted rooms.
  /// - Throws: `.configError` for an invalid URL.
  package init(
    name: String = "matrix", _ account: MatrixAccount, encryptedRooms: EncryptedRooms = EncryptedRooms(),
    keys: MatrixKeySettings? = nil, client: HTTPClient, limits: HTTPLimits = HTTPLimits(),
    clock: @escaping @Sendable () -> Timestamp = { .now() }
  ) throws(DeliveryError) {
    self.name = name
    self.account = account
    let server = try MatrixServer(account, for: .room, client: client, limits: limits)
    self.server = server
    roomKeys = keys.map { keys in
      let files = MatrixKeyFiles(in: keys.state, network: name)
      return MatrixRoomKeys(
        server, device: MatrixOwnDevice(server, files: files, recoveryKey: keys.recoveryKey), receivers: keys.receivers,
        clock: clock, log: keys.log)
    }
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
    if let reserved = message.reserved { return try await publish(message, reserved: reserved) }
    let content = try MatrixContent.encoded(message)
    try MatrixContent.checkLength(content.count)
    return try await rooms.inRoom(of: message.address) { room throws(DeliveryError) in
      if isForgotten(message), let event = try await history.event(of: message.message, in: room) {
        return event.publication
      }
      if try await encryption.isOn(in: room) {
        // It may have been published before the room was encrypted.
        if message.firstTriedAt != nil, let event = try await history.event(of: message.message, in: room) {
          return event.publication
        }
        guard roomKeys == nil else { throw MatrixEncryption.change(of: message.address) }
        throw MatrixEncryption.refusal(of: message.address)
      }
      return try await send(message, content, to: room)
    }
  }

  /// An event of an encrypted room is larger.
  package var textLimit: (@Sendable (String, Address) async throws(DeliveryError) -> Void)? {
    { text, address async throws(DeliveryError) in
      let message = OutgoingMessage(
        message: MessageID(unchecked: String(repeating: "0", count: 32)), request: "", address: address,
        inbox: InboxID(unchecked: ""), content: .text(text))
      let content = try MatrixContent.encoded(message)
      try MatrixContent.checkLength(content.count)
      guard roomKeys != nil else { return }
      try await rooms.inRoom(of: address) { room throws(DeliveryError) in
        guard try await encryption.isOnAtFirst(in: room) else { return }
        try MatrixContent.checkLength(MatrixContent.encryptedLength(content, in: room))
      }
    }
  }

  package func stop() {}

  /// - Throws: `encryptedRoom` or `configError`, before a photo is uploaded for a room that cannot get it.
  package func admit(_ address: Address, sealedWith seal: SealKind) async throws(DeliveryError) {
    if address.isProfile { return }
    try await rooms.inRoom(of: address) { room throws(DeliveryError) in
      guard try await encryption.isOn(in: room) else { return }
      guard let roomKeys else { throw MatrixEncryption.refusal(of: address) }
      guard seal == .matrix else { throw MatrixEncryption.openPhoto(for: address) }
      _ = try await roomKeys.device.identity()
    }
  }

  /// Searches the account's last events in the room. A missing message may still have been published; publishing it
  /// again under its id finds out.
  package func find(_ message: TriedMessage) async throws(DeliveryError) -> Sighting {
    // An avatar can be set twice. Only the attempt that set it knew its photo.
    if message.address.isProfile { return .unknown }
    if let reserved = message.reserved {
      let found = try await settle(message.message, in: message.address, reserved: reserved)
      return found.map { .published($0) } ?? .absent
    }
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
