import HTTP
import Matrix
import Messages
import Synchronization

/// Events that an account has sent to its rooms.
final class MatrixHistory: Sendable {
  private struct Page: Decodable {
    let chunk: [MatrixEvent]
    /// The start of the next older page; nil at the room's beginning.
    let end: String?
  }

  private let server: MatrixServer
  private let user = Mutex<String?>(nil)

  /// Events per page, and pages to search. One page is enough, unless people use the account, too.
  private static let events = 100
  private static let pages = 5
  /// The size limit of a page with the largest events.
  private static let pageBytes = 16 << 20

  init(_ server: MatrixServer) { self.server = server }

  /// The account's newest event of that message, among its last ones in the room, if any.
  func event(of message: MessageID, in room: String) async throws(DeliveryError) -> MatrixEvent? {
    try await event(in: room, type: "m.room.message") { $0.message == message.text }
  }

  /// The account's event with that ciphertext, among its last encrypted ones in the room, if any.
  func event(marked mark: String, in room: String) async throws(DeliveryError) -> MatrixEvent? {
    try await event(in: room, type: "m.room.encrypted") { $0.mark == mark }
  }

  private func event(
    in room: String, type: String, where isWanted: (MatrixEvent.Content) -> Bool
  ) async throws(DeliveryError) -> MatrixEvent? {
    let user = try await userID()
    let filter: JSONObjectText = ["senders": [user], "types": [type]]
    let path = "/_matrix/client/v3/rooms/\(room)/messages?dir=b&limit=\(Self.events)"
    let query = "&filter=\(filter.description.percentEncoded())"
    var start = ""
    for _ in 0..<Self.pages {
      let answer = try await ask(path + query + start)
      guard answer.isSuccess, let page = answer.decoded(as: Page.self) else { throw server.faults.error(answer) }
      // Another user who writes our ids must not stop us from sending.
      if let event = page.chunk.first(where: { $0.sender == user && $0.content.map(isWanted) == true }) {
        return event
      }
      guard let end = page.end else { break }
      start = "&from=\(end.percentEncoded())"
    }
    return nil
  }

  /// An event of the room; nil if the homeserver does not show it.
  func event(_ id: String, in room: String) async throws(DeliveryError) -> MatrixEvent? {
    let answer = try await ask("/_matrix/client/v3/rooms/\(room)/event/\(id.percentEncoded())")
    guard answer.isSuccess else {
      let error = server.faults.error(answer)
      if error.cause.disposition == .fail { return nil }
      throw error
    }
    return answer.decoded(as: MatrixEvent.self)
  }

  /// The account's user id.
  func userID() async throws(DeliveryError) -> String {
    if let user = user.withLock({ $0 }) { return user }
    let id: String = try server.need("user_id", of: await ask("/_matrix/client/v3/account/whoami"))
    user.withLock { $0 = id }
    return id
  }

  private func ask(_ path: String) async throws(DeliveryError) -> MatrixAnswer {
    try await server.ask(.get, path, replyBytes: Self.pageBytes)
  }
}
