import Foundation
import Synchronization

/// A real homeserver with the users alice, bob, carol and dave. Carol has Synapse's own rate limits, and dave is in no room.
public final class Synapse: Sendable {
  /// A room, and another name for it.
  public struct Room: Sendable {
    public let id: String
    public let alias: String

    public init(id: String, alias: String) {
      self.id = id
      self.alias = alias
    }
  }

  /// A message as a chat app has it.
  public struct Message: Decodable, Sendable {
    public let event: String
    public let sender: String
    /// The event's content, as JSON.
    public let content: String
    /// `photo`, `sealed photo` or `text`.
    public let kind: String
    public let body: String?
    /// Of the photo that came out.
    public let sha256: String?
    /// What the media repository says of the object.
    public let type: String?
    public let name: String?
  }

  /// Whether `make test` has set it up here.
  public static let isInstalled: Bool = (try? run([python, "-c", "import nio, synapse"]))?.status == 0

  /// The one for all tests that do no harm to it. It is started when a test first asks for it.
  public static func shared() throws -> Synapse { try started.get() }
  private static let started = Result { try Synapse() }

  private let server: TestServer
  private let turn = Mutex(())

  public init() throws { server = try TestServer("synapse.py") }

  public var endpoint: String { server["endpoint"] }

  /// The access token that a user got first.
  public func token(_ user: String) -> String { server[user] }

  /// A further token.
  public func login(_ user: String, device: String) throws -> String {
    try tell("login \(user) \(device)")["token"] ?? ""
  }

  public func room(of user: String, with other: String) throws -> Room {
    let answer = try tell("room \(user) \(other)")
    return Room(id: answer["room"] ?? "", alias: answer["alias"] ?? "")
  }

  public func kill() throws { try tell("kill") }
  public func start() throws { try tell("start") }

  /// What a user reads in a room.
  public func messages(in room: Room, readBy user: String) throws -> [Message] {
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
