import HTTP
import Matrix
import Messages

/// Messages to encrypted rooms. The order of writes: the devices have the key, the encrypted event is durable, the ledger
/// has the reservation, the event is sent, the ledger has its id, the stored event goes.
extension MatrixNetwork {
  /// Encrypts a message for an encrypted room, and stores the event. nil for another room, and for a profile photo.
  ///
  /// - Returns: the mark by which the event is recognised in the room.
  /// - Throws: `encryptedRoom` and `configError` if it cannot be encrypted; it is never sent in the clear instead.
  package func reserve(_ message: OutgoingMessage) async throws(DeliveryError) -> String? {
    guard let roomKeys, !message.content.kind.isOfProfile else { return nil }
    return try await rooms.inRoom(of: message.address) { room throws(DeliveryError) in
      guard try await encryption.isOnAtFirst(in: room) else { return nil }
      // It may have been published before the room was encrypted; publishing finds it.
      if message.firstTriedAt != nil, try await history.event(of: message.message, in: room) != nil { return nil }
      if case .photo(let photo) = message.content, photo.file == nil {
        throw MatrixEncryption.openPhoto(for: message.address)
      }
      let content = try MatrixContent.encoded(message)
      let id = try await rooms.id(of: message.address)
      guard id.percentEncoded() == room else { throw MatrixEncryption.change(of: message.address) }
      let event = try await roomKeys.encrypt(content, in: id)
      try MatrixContent.checkLength(event.content.utf8.count)
      try await roomKeys.files.put(event, for: message.message)
      return event.mark
    }
  }

  /// Removes the stored event of a message, whose outcome the ledger has.
  package func forget(_ message: MessageID) async { await roomKeys?.files.remove(message) }

  /// Removes the stored events of messages that are over: cancelled, failed, or sent right before a crash.
  package func forgetEnded(_ waiting: @Sendable ([MessageID]) async throws -> Set<MessageID>) async throws {
    guard let stored = try await roomKeys?.files.allOutgoing(), !stored.isEmpty else { return }
    let waiting = try await waiting(stored)
    for message in stored where !waiting.contains(message) { await forget(message) }
  }

  /// Publishes a reserved message of this process, with its attachment.
  ///
  /// - Throws: `conflict` if the room was replaced; `find` then says that the message is absent.
  func publish(_ message: OutgoingMessage, reserved: String) async throws(DeliveryError) -> Publication {
    let files = try await storedEvents(of: message.address)
    guard message.firstTriedAt == nil, let event = try await files.outgoing(message.message), event.mark == reserved
    else {
      guard let found = try await settle(message.message, in: message.address, reserved: reserved) else {
        throw MatrixEncryption.change(of: message.address)
      }
      return Publication(
        publishedAt: found.publishedAt, remoteID: found.remoteID, attachment: message.content.attachment)
    }
    guard let id = try await send(event, of: message.message, to: message.address) else {
      throw MatrixEncryption.change(of: message.address)
    }
    return Publication(publishedAt: now, remoteID: id, attachment: message.content.attachment)
  }

  /// Finds a reserved message in its room, or publishes it as it was stored. The keys of a photo are no longer known.
  ///
  /// - Returns: nil if it was not published, because its room was replaced.
  /// - Throws: `rejected` if the stored event is lost and not among the last ones of the room.
  func settle(
    _ message: MessageID, in address: Address, reserved: String
  ) async throws(DeliveryError) -> Publication? {
    let event = try await storedEvents(of: address).outgoing(message)
    let stored = event.flatMap { $0.mark == reserved ? $0 : nil }
    let found: MatrixEvent? =
      if let stored {
        try await history.event(marked: reserved, in: stored.room)
      } else {
        try await rooms.inRoom(of: address) { room throws(DeliveryError) in
          try await history.event(marked: reserved, in: room)
        }
      }
    if let found {
      return Publication(publishedAt: Timestamp(milliseconds: found.sentAt), remoteID: found.id, attachment: nil)
    }
    guard let stored else {
      throw DeliveryError(
        .rejected,
        "the encrypted event of this message is lost from the state directory; look whether the room has it, and send again"
      )
    }
    return try await send(stored, of: message, to: address).map { id in
      Publication(publishedAt: now, remoteID: id, attachment: nil)
    }
  }

  /// Sends a stored event. If its room is gone or refuses, the alias is looked up again.
  ///
  /// - Returns: nil if the alias leads to another room now. The event is of no use there, and nobody got it.
  private func send(
    _ event: OutgoingEvent, of message: MessageID, to address: Address
  ) async throws(DeliveryError) -> String? {
    let path = "/_matrix/client/v3/rooms/\(event.room)/send/m.room.encrypted/\(message.text.percentEncoded())"
    do throws(DeliveryError) {
      return try server.need("event_id", of: await server.ask(.put, path, Array(event.content.utf8)))
    } catch {
      guard error.cause == .forbidden || error.cause == .roomGone else { throw error }
      rooms.forget(address)
      if try await rooms.id(of: address).percentEncoded() == event.room { throw error }
      return nil
    }
  }

  private func storedEvents(of address: Address) async throws(DeliveryError) -> MatrixKeyFiles {
    if let roomKeys { return roomKeys.files }
    throw MatrixEncryption.refusal(of: address)
  }
}
