import Foundation
import HTTP
import Matrix
import Messages
import Networks
import Secrets
import Synchronization
import TestSupport
import Testing

/// Rooms that change while they are used.
@Suite(.enabled(if: Synapse.isInstalled, "Synapse is not installed"), .timeLimit(.minutes(4)))
struct MatrixRoomTests {
  private let synapse: Synapse
  private let room: Synapse.Room

  init() throws {
    synapse = try Synapse.shared()
    room = try synapse.room(of: "alice", with: "bob")
  }

  private func ask(_ user: String, _ method: HTTPRequest.Method, _ path: String, _ body: String = "{}") async throws
    -> MatrixAnswer
  {
    let account = MatrixAccount(homeserver: synapse.endpoint, token: Secret(synapse.token(user)))
    return try await MatrixServer(account, for: .room, client: HTTPClient()).ask(
      method, "/_matrix/client/v3/\(path)", Array(body.utf8))
  }

  /// Alice upgrades the room, and bob joins the next one. Returns its id.
  private func upgrade() async throws -> String {
    let answer = try await ask(
      "alice", .post, "rooms/\(room.id.percentEncoded())/upgrade", #"{"new_version": "10"}"#)
    let next = try #require(answer.json?["replacement_room"]?.text)
    let path = "rooms/\(next.percentEncoded())"
    #expect(try await ask("alice", .post, "\(path)/invite", #"{"user_id": "@bob:localhost"}"#).isSuccess)
    #expect(try await ask("bob", .post, "\(path)/join").isSuccess)
    return next
  }

  @Test func aliasLeadsToTheUpgradedRoomAtOnce() async throws {
    let account = MatrixAccount(homeserver: synapse.endpoint, token: Secret(synapse.token("bob")))
    let network = try MatrixNetwork(account, client: HTTPClient())
    func send(_ text: String, to conversation: String) async throws -> Cause? {
      let message = OutgoingMessage(UUID().uuidString, .text(text), to: conversation)
      return try await failure { try await network.publish(message) }?.cause
    }
    #expect(try await send("one", to: room.alias) == nil)
    let next = try await upgrade()
    #expect(try await send("no more", to: room.id) == .forbidden, "the old room refuses")
    for text in ["two", "three"] { #expect(try await send(text, to: room.alias) == nil) }
    let texts = try synapse.messages(in: Synapse.Room(id: next, alias: room.alias), readBy: "alice").map(\.body)
    #expect(texts == ["two", "three"])
  }

  @Test func listenerFollowsTheAliasToTheUpgradedRoom() async throws {
    let listener = try MatrixListener(
      name: "matrix", MatrixAccount(homeserver: synapse.endpoint, token: Secret(synapse.token("bob"))),
      conversations: HeardConversations(room.alias), client: HTTPClient()
    ) { _ in }
    let heard = Mutex<[String]>([])
    func listen(_ position: String?) async throws -> String {
      try await listener.listen(after: position) { arrivals in
        heard.withLock { $0 += arrivals.map { "\($0.conversation) \($0.message)" } }
      }
    }
    let start = try await listen(nil)
    let next = try await upgrade()
    // It hears that the room has ended.
    let position = try await listen(start)
    let answer = try await ask(
      "alice", .put, "rooms/\(next.percentEncoded())/send/m.room.message/\(UUID().uuidString)",
      #"{"msgtype": "m.image", "body": "a", "url": "mxc://localhost/a"}"#)
    let event = try #require(answer.json?["event_id"]?.text)
    _ = try await listen(position)
    #expect(heard.withLock { $0 } == ["family \(event)"])
  }
}
