import HTTP
import Matrix
import Messages
import Synchronization

/// The room that a conversation stands for: its room id, or an alias such as `#family:example.org`, which the homeserver
/// is asked for once and again after a failure.
final class MatrixRooms: Sendable {
  private struct Directory: Decodable {
    let room: String

    private enum CodingKeys: String, CodingKey {
      case room = "room_id"
    }
  }

  private let server: MatrixServer
  private let faults: MatrixFaults
  private let known = Mutex<[String: String]>([:])

  /// Aliases that are remembered.
  private static let most = 10_000

  init(_ server: MatrixServer, faults: MatrixFaults) {
    self.server = server
    self.faults = faults
  }

  /// The room's id, escaped as a part of a path.
  func room(of conversation: ConversationID) async throws(DeliveryError) -> String {
    try await id(of: conversation).percentEncoded()
  }

  /// The room's id.
  func id(of conversation: ConversationID) async throws(DeliveryError) -> String {
    switch conversation.text.first {
    case "!": return conversation.text
    case "#": return try await room(ofAlias: conversation.text)
    default:
      throw DeliveryError(
        .roomGone, "the conversation is no Matrix room; it has to be a room's id (`!…`) or alias (`#…`)")
    }
  }

  private func room(ofAlias alias: String) async throws(DeliveryError) -> String {
    if let room = known.withLock({ $0[alias] }) { return room }
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
    known.withLock { known in
      if known.count >= Self.most { known.removeAll(keepingCapacity: true) }
      known[alias] = id
    }
    return id
  }

  /// The next message asks again where the alias points.
  func forget(_ conversation: ConversationID) { known.withLock { $0[conversation.text] = nil } }
}
