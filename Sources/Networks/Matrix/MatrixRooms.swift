import HTTP
import Matrix
import Messages
import Synchronization

/// The room that a conversation stands for: its room id, or an alias such as `#family:example.org`, which the homeserver
/// is asked for once an hour and after a failure.
final class MatrixRooms: Sendable {
  private struct Directory: Decodable {
    let room: String

    private enum CodingKeys: String, CodingKey {
      case room = "room_id"
    }
  }

  private let server: MatrixServer
  private let faults: MatrixFaults
  private let clock: @Sendable () -> Timestamp
  private let known = Mutex<[String: (room: String, askedAt: Timestamp)]>([:])

  /// Aliases that are remembered, and for how many seconds.
  private static let most = 10_000
  static let memory = 3600.0

  init(_ server: MatrixServer, faults: MatrixFaults, clock: @escaping @Sendable () -> Timestamp = { .now() }) {
    self.server = server
    self.faults = faults
    self.clock = clock
  }

  /// Does `work` in the conversation's room, whose id it gets escaped as a part of a path.
  ///
  /// An alias may lead to another room by now, as after an upgrade. So where a remembered room is gone or refuses, the
  /// alias is looked up again, and `work` is done once in the new room. Any failure makes the next call look it up.
  func inRoom<Answer: Sendable>(
    of conversation: ConversationID, _ work: (String) async throws(DeliveryError) -> Answer
  ) async throws(DeliveryError) -> Answer {
    let remembered = room(inMemory: conversation)
    do throws(DeliveryError) {
      let room = try await id(of: conversation)
      do throws(DeliveryError) { return try await work(room.percentEncoded()) } catch {
        guard room == remembered, error.cause == .forbidden || error.cause == .roomGone else { throw error }
        forget(conversation)
        let next = try await id(of: conversation)
        if next == room { throw error }
        return try await work(next.percentEncoded())
      }
    } catch {
      forget(conversation)
      throw error
    }
  }

  private func room(inMemory conversation: ConversationID) -> String? {
    guard let known = known.withLock({ $0[conversation.text] }) else { return nil }
    // A clock that was set back must not make it known for longer.
    return abs(clock().seconds(since: known.askedAt)) < Self.memory ? known.room : nil
  }

  /// The room's id.
  func id(of conversation: ConversationID) async throws(DeliveryError) -> String {
    switch conversation.text.first {
    case "!": return conversation.text
    case "#":
      if let room = room(inMemory: conversation) { return room }
      return try await room(ofAlias: conversation.text)
    default:
      throw DeliveryError(
        .roomGone, "the conversation is no Matrix room; it has to be a room's id (`!…`) or alias (`#…`)")
    }
  }

  private func room(ofAlias alias: String) async throws(DeliveryError) -> String {
    let answer: MatrixAnswer
    do {
      answer = try await server.ask(.get, "/_matrix/client/v3/directory/room/\(alias.percentEncoded())")
    } catch {
      throw faults.error(error)
    }
    if answer.code == "M_NOT_FOUND" || answer.code == "M_INVALID_PARAM" {
      throw DeliveryError(
        .roomGone, "\(server.name) knows no room of that alias; check how it is written (\(answer.status))")
    }
    guard answer.isSuccess, let id = answer.decoded(as: Directory.self)?.room, id.hasPrefix("!") else {
      throw faults.error(answer)
    }
    let now = clock()
    known.withLock { known in
      if known.count >= Self.most { known.removeAll(keepingCapacity: true) }
      known[alias] = (id, now)
    }
    return id
  }

  /// The next message asks again where the alias points.
  func forget(_ conversation: ConversationID) { known.withLock { $0[conversation.text] = nil } }
}
