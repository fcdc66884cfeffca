import Foundation
import Synchronization

/// A real homeserver with the users alice, bob, carol and dave. Carol has Synapse's own rate limits, and dave is in no
/// room.
package final class Synapse: Sendable {
  package struct Room: Sendable {
    package let id: String
    package let alias: String

    package init(id: String, alias: String) {
      self.id = id
      self.alias = alias
    }
  }

  /// A message as a client shows it.
  package struct Message: Decodable, Sendable {
    package let event: String
    package let sender: String
    package let content: String
    /// `photo`, `sealed photo` or `text`.
    package let kind: String
    package let body: String?
    /// The digest of the opened photo.
    package let sha256: String?
    /// The object's type in the media repository.
    package let type: String?
    package let name: String?
  }

  package static let isInstalled: Bool = (try? run([python, "-c", "import nio, synapse"]))?.status == 0

  /// The server for all tests, started when first needed.
  package static func shared() throws -> Synapse { try started.get() }
  private static let started = Result { try Synapse() }

  private let server: TestServer
  private let turn = Mutex(())

  private init() throws { server = try TestServer("synapse.py") }

  package var endpoint: String { server["endpoint"] }

  /// The first access token of a user.
  package func token(_ user: String) -> String { server[user] }

  package func login(_ user: String, device: String) throws -> String {
    try tell("login \(user) \(device)")["token"] ?? ""
  }

  package func room(of user: String, with other: String) throws -> Room {
    let answer = try tell("room \(user) \(other)")
    return Room(id: answer["room"] ?? "", alias: answer["alias"] ?? "")
  }

  /// The messages of a room that a user can read.
  package func messages(in room: Room, readBy user: String) throws -> [Message] {
    let result = try run([
      python, pythonScript("read_room.py"), endpoint, "@\(user):localhost", token(user), room.id,
    ])
    guard result.status == 0 else { throw ScriptEnded(script: result.errors) }
    return try result.output.split(separator: "\n").map {
      try JSONDecoder().decode(Message.self, from: Data($0.utf8))
    }
  }

  @discardableResult private func tell(_ order: String) throws -> [String: String] {
    try turn.withLock { _ in try server.tell(order) }
  }
}
