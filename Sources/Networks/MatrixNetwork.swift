import HTTP
import Matrix
import Messages

/// Publishes into Matrix rooms, through one account's homeserver.
///
/// A message is published once: its id is the transaction's, and a homeserver that gets the same transaction from the
/// same device again answers with the first event. It forgets that after a while, a day at most, and does not know it
/// of another device. So what was tried long ago, or by a process before this one, is looked for in the room first, by
/// the id that each event of ours carries. Where the token was replaced by another device's, a message that was on its
/// way at that moment is found the same way.
///
/// Events are not encrypted: the homeservers of a room can read them, and the keys of sealed photos in them. What a
/// sealed photo is safe from is whoever keeps or carries the media alone.
public struct MatrixNetwork: Network {
  public let name: String
  public let takesRuns = true
  private let server: MatrixServer
  private let faults: MatrixFaults
  private let rooms: MatrixRooms
  private let past: MatrixPast
  private let avatar: MatrixAvatar
  private let clock: @Sendable () -> Timestamp
  private let startedAt: Timestamp

  /// How long a homeserver surely knows a transaction, in seconds. Synapse keeps it for a day, others for half an hour.
  public static let homeserverMemory = 1200.0

  private struct Sent: Decodable {
    let event: String

    private enum CodingKeys: String, CodingKey {
      case event = "event_id"
    }
  }

  private struct Membership: Decodable {
    let membership: String
  }

  /// - Throws: `.configError` for what is no homeserver's URL.
  public init(
    name: String = "matrix", _ account: MatrixAccount, client: HTTPClient, limits: HTTPLimits = HTTPLimits(),
    clock: @escaping @Sendable () -> Timestamp = { .now() }
  ) throws(DeliveryError) {
    self.name = name
    server = try MatrixServer(account, client: client, limits: limits)
    faults = MatrixFaults(server: server.name, use: .room)
    rooms = MatrixRooms(server, faults: faults)
    past = MatrixPast(server, faults: faults)
    avatar = MatrixAvatar(server)
    self.clock = clock
    startedAt = clock()
  }

  /// A profile photo becomes the account's avatar, which everybody can see: it has to be in the homeserver's media, and
  /// not sealed.
  ///
  /// - Throws: what `MatrixFaults` makes of an answer or of none; `rejected` for a profile photo that can be no avatar.
  public func publish(_ message: OutgoingMessage) async throws(DeliveryError) -> Publication {
    switch message.content {
    case .photo, .text: break
    case .profile(let photo):
      try await avatar.set(photo, of: past.userID())
      return Publication(publishedAt: clock(), remoteID: nil, attachment: photo)
    case .profileRemoval:
      try await avatar.remove(of: past.userID())
      return Publication(publishedAt: clock(), remoteID: nil, attachment: nil)
    }
    let content = try MatrixContent.encoded(message)
    do {
      let room = try await rooms.room(of: message.conversation)
      if isForgotten(message), let event = try await past.event(of: message.message, in: room) {
        return event.publication
      }
      return try await send(message, content, to: room)
    } catch {
      rooms.forget(message.conversation)
      throw error
    }
  }

  /// Looks among the room's last events of this account. What is not there may have been published all the same: to be
  /// published again under its id is the way to find out.
  public func find(_ message: TriedMessage) async throws(DeliveryError) -> Sighting {
    // An avatar can be set twice; and which of its photos it shows, only the attempt knew that set it.
    if message.conversation.isProfile { return .unknown }
    do {
      let room = try await rooms.room(of: message.conversation)
      return try await past.event(of: message.message, in: room).map { .published($0.publication) } ?? .unknown
    } catch {
      rooms.forget(message.conversation)
      throw error
    }
  }

  public func check() async throws(DeliveryError) -> String {
    "sends as \(try await past.userID()) through \(server.name); rooms' homeservers can read texts and photos' keys"
  }

  /// Asks for the account's own membership, which a homeserver refuses to strangers in the words in which it refuses their
  /// messages.
  public func check(_ conversation: ConversationID) async throws(DeliveryError) -> String? {
    let room = try await rooms.room(of: conversation)
    let user = try await past.userID()
    let answer: MatrixAnswer
    do {
      answer = try await server.ask(
        .get, "/_matrix/client/v3/rooms/\(room)/state/m.room.member/\(user.percentEncoded())")
    } catch {
      throw faults.error(error)
    }
    guard answer.isSuccess, let membership = answer.decoded(as: Membership.self)?.membership else {
      throw faults.error(answer)
    }
    guard membership == "join" else {
      throw DeliveryError(.forbidden, "\(server.name) has the account in that room no more; join the room again")
    }
    guard try await isEncrypted(room) else { return "\(user) is in the room" }
    return
      "\(user) is in the room, which is encrypted with Megolm: what others send there cannot be read here, and what"
      + " is sent from here is NOT encrypted so"
  }

  private func isEncrypted(_ room: String) async throws(DeliveryError) -> Bool {
    let answer: MatrixAnswer
    do {
      answer = try await server.ask(.get, "/_matrix/client/v3/rooms/\(room)/state/m.room.encryption")
    } catch {
      throw faults.error(error)
    }
    return answer.isSuccess
  }

  /// Whether an earlier attempt may have had its effect, and the homeserver may not know of it any more.
  private func isForgotten(_ message: OutgoingMessage) -> Bool {
    guard let first = message.firstTriedAt else { return false }
    return first < startedAt || clock().seconds(since: first) > Self.homeserverMemory
  }

  private func send(
    _ message: OutgoingMessage, _ content: [UInt8], to room: String
  ) async throws(DeliveryError) -> Publication {
    let answer: MatrixAnswer
    do {
      answer = try await server.ask(
        .put, "/_matrix/client/v3/rooms/\(room)/send/m.room.message/\(message.message.text.percentEncoded())", content)
    } catch {
      throw faults.error(error)
    }
    guard answer.isSuccess, let id = answer.decoded(as: Sent.self)?.event else { throw faults.error(answer) }
    guard case .photo(let attachment) = message.content else {
      return Publication(publishedAt: clock(), remoteID: id, attachment: nil)
    }
    // An earlier attempt may have gone through, with an earlier upload: what stands is what it said.
    if message.firstTriedAt != nil, let standing = try await past.event(id, in: room) { return standing.publication }
    return Publication(publishedAt: clock(), remoteID: id, attachment: attachment)
  }
}
