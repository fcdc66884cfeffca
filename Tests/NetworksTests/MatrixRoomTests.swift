import Foundation
import HTTP
import Matrix
import Messages
import Networks
import Seals
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

  private func network(as user: String = "alice") throws -> MatrixNetwork {
    try MatrixNetwork(
      MatrixAccount(homeserver: synapse.endpoint, token: Secret(synapse.token(user))), client: HTTPClient())
  }

  private func send(
    _ text: String, to conversation: String, through network: MatrixNetwork
  ) async throws -> DeliveryError? {
    let message = OutgoingMessage(UUID().uuidString, .text(text), to: conversation)
    return try await failure { try await network.publish(message) }
  }

  private func ask(_ user: String, _ method: HTTPRequest.Method, _ path: String, _ body: String = "{}") async throws
    -> MatrixAnswer
  {
    let account = MatrixAccount(homeserver: synapse.endpoint, token: Secret(synapse.token(user)))
    return try await MatrixServer(account, for: .room, client: HTTPClient()).ask(
      method, "/_matrix/client/v3/\(path)", Array(body.utf8))
  }

  private func encrypt(_ room: Synapse.Room) async throws {
    let answer = try await ask(
      "alice", .put, "rooms/\(room.id.percentEncoded())/state/m.room.encryption",
      #"{"algorithm": "m.megolm.v1.aes-sha2"}"#)
    #expect(answer.isSuccess)
  }

  @Test func newlyEncryptedRoomGetsNothing() async throws {
    let network = try network()
    for name in [room.id, room.alias] { #expect(try await send("before", to: name, through: network) == nil) }
    try await network.admit(Address(unchecked: room.id), sealedWith: .matrix)
    try await encrypt(room)
    for name in [room.id, room.alias] {
      let error = try await send("after", to: name, through: network)
      #expect(error?.cause == .encryptedRoom && error?.sentence.contains("the room \(name) is encrypted") == true)
      await #expect(throws: DeliveryError.self) {
        try await network.admit(Address(unchecked: name), sealedWith: .matrix)
      }
    }
    #expect(try synapse.messages(in: room, readBy: "bob").map(\.body) == ["before", "before"])
  }

  @Test func aProfilePhotoIsNoRoomMessage() async throws {
    try await network().admit(ConversationID.profile(of: InboxID(unchecked: "me")).address, sealedWith: .matrix)
  }

  @Test func checkNamesEncryptedRoomsByIdAndAlias() async throws {
    let network = try network()
    try await encrypt(room)
    let error = await #expect(throws: DeliveryError.self) {
      try await network.checkConversation(Address(unchecked: room.alias))
    }
    #expect(error?.cause == .encryptedRoom)
    let clear = try synapse.room(of: "alice", with: "bob")
    let closed = try await network.closedConversations()
    let names = try #require(closed.first { $0.names.first?.text == room.id }).names.map(\.text)
    #expect(names == [room.id, room.alias])
    #expect(!closed.contains { $0.names.contains { $0.text == clear.id } })
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
    let network = try network(as: "bob")
    #expect(try await send("one", to: room.alias, through: network) == nil)
    let next = try await upgrade()
    #expect(try await send("no more", to: room.id, through: network)?.cause == .forbidden, "the old room refuses")
    for text in ["two", "three"] { #expect(try await send(text, to: room.alias, through: network) == nil) }
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
