import Foundation
import HTTP
import Matrix
import Messages
import Networks
import Secrets
import Synchronization
import TestSupport
import Testing

/// Alice and carol write through the client API; bob is listened for.
@Suite(.enabled(if: Synapse.isInstalled, "Synapse is not installed"), .timeLimit(.minutes(4)))
struct MatrixListenerTests {
  private let synapse: Synapse
  private let room: Synapse.Room
  private let client = HTTPClient()
  private let said = Said()

  private final class Said: Sendable {
    let arrivals = Mutex<[Arrival]>([])
    let lines = Mutex<[String]>([])
    var all: [Arrival] { arrivals.withLock { $0 } }
    var messages: [String] { all.map(\.message) }
    var sentences: [String] { lines.withLock { $0 } }
  }

  init() throws {
    synapse = try Synapse.shared()
    room = try synapse.room(of: "alice", with: "bob")
  }

  private func listener(
    as user: String = "bob", hearing conversations: HeardConversations? = nil
  ) throws -> MatrixListener {
    try MatrixListener(
      name: "matrix", MatrixAccount(homeserver: synapse.endpoint, token: Secret(synapse.token(user))),
      conversations: conversations ?? HeardConversations(room.id), client: client
    ) { [said] line in said.lines.withLock { $0.append(line) } }
  }

  private func listen(_ listener: MatrixListener, after position: String?) async throws -> String {
    try await listener.listen(after: position) { [said] arrivals in
      said.arrivals.withLock { $0 += arrivals }
    }
  }

  /// Sends an event and returns its id.
  private func say(_ content: String, as user: String = "alice", in room: String? = nil) async throws -> String {
    let room = (room ?? self.room.id).addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let url = "\(synapse.endpoint)/_matrix/client/v3/rooms/\(room)/send/m.room.message/\(UUID().uuidString)"
    let answer = try await client.send(
      HTTPRequest(
        .put, url, headers: [HTTPHeader("Authorization", "Bearer \(synapse.token(user))")], body: Array(content.utf8)))
    return try #require(try JSONDecoder().decode([String: String].self, from: Data(answer.body))["event_id"])
  }

  private static func photo(_ name: String) -> String {
    #"{"msgtype": "m.image", "body": "\#(name)", "url": "mxc://localhost/\#(name)", "info": {"size": 5}}"#
  }

  @Test func photosOfOthersAreHeardAndNothingElse() async throws {
    let listener = try listener()
    _ = try await say(Self.photo("before"))
    let start = try await listen(listener, after: nil)
    #expect(said.messages.isEmpty, "it begins with what comes")
    let plain = try await say(Self.photo("plain"))
    _ = try await say(#"{"msgtype": "m.text", "body": "hello"}"#)
    _ = try await say(Self.photo("own"), as: "bob")
    _ = try await say(
      #"{"msgtype": "m.file", "body": "a.pdf", "url": "mxc://a/b", "info": {"mimetype": "application/pdf"}}"#)
    let file = try await say(
      #"{"msgtype": "m.file", "body": "a", "url": "mxc://a/b", "info": {"mimetype": "image/png"}}"#)
    _ = try await say(
      #"{"msgtype": "m.image", "body": "edited", "url": "mxc://a/b", "m.relates_to": {"rel_type": "m.replace", "event_id": "\#(plain)"}}"#
    )
    _ = try await say(#"{"msgtype": "m.odd", "body": "a", "url": []}"#)
    let next = try await listen(listener, after: start)
    #expect(said.messages == [plain, file] && next != start)
    let heard = said.all
    #expect(heard.allSatisfy { $0.conversation.text == "family" && $0.sender?.text == "@alice:localhost" })
    let event = try #require(try JSONSerialization.jsonObject(with: Data(heard[0].attachment)) as? [String: Any])
    #expect(event["event_id"] as? String == plain && event["sender"] as? String == "@alice:localhost")
    #expect(event["unsigned"] == nil, "what changes is not kept")
    // Another process hears the same bytes.
    _ = try await listen(try self.listener(), after: start)
    #expect(Array(said.all.dropFirst(2)) == heard)
  }

  @Test func aLongGapIsReadPageByPageInOrder() async throws {
    let start = try await listen(try listener(), after: nil)
    var sent = [String]()
    for number in 0..<230 {
      let isPhoto = number % 3 == 0
      let id = try await say(isPhoto ? Self.photo("p\(number)") : #"{"msgtype": "m.text", "body": "\#(number)"}"#)
      if isPhoto { sent.append(id) }
    }
    // Another process continues where the first one was.
    let listener = try listener()
    let next = try await listen(listener, after: start)
    #expect(said.messages == sent)
    let later = try await say(Self.photo("later"))
    _ = try await listen(listener, after: next)
    #expect(said.messages == sent + [later])
    #expect(said.sentences.isEmpty)
  }

  @Test func positionStoredLateLosesNothing() async throws {
    let listener = try listener()
    let start = try await listen(listener, after: nil)
    let event = try await say(Self.photo("a"))
    struct DiskFull: Error {}
    await #expect(throws: DiskFull.self) {
      _ = try await listener.listen(after: start) { _ in throw DiskFull() }
    }
    _ = try await listen(listener, after: start)
    #expect(said.messages == [event])
  }

  @Test func foreignPositionBeginsAnew() async throws {
    let alices = try await listen(try listener(as: "alice"), after: nil)
    _ = try await say(Self.photo("a"))
    let bobs = try await listen(try listener(), after: alices)
    #expect(bobs.hasPrefix("@bob:localhost ") && said.messages.isEmpty && said.sentences.isEmpty)
    let next = try await listen(try listener(), after: "@bob:localhost no-token-of-this-server")
    #expect(next.hasPrefix("@bob:localhost ") && next != "@bob:localhost no-token-of-this-server")
    #expect(said.messages.isEmpty && said.sentences.count == 1)
  }

  @Test func onlyConfiguredRoomsAreHeardAlsoByAlias() async throws {
    let other = try synapse.room(of: "alice", with: "bob")
    let conversations = HeardConversations(named: [
      (address: Address(unchecked: "#nobody:localhost"), conversation: ConversationID(unchecked: "nobody")),
      (address: Address(unchecked: room.alias), conversation: ConversationID(unchecked: "family")),
    ])
    let listener = try listener(hearing: conversations)
    let start = try await listen(listener, after: nil)
    #expect(said.sentences.count == 1 && said.sentences[0].hasPrefix("the conversation nobody is not listened to: "))
    _ = try await say(Self.photo("a"), in: other.id)
    let event = try await say(Self.photo("b"))
    _ = try await listen(listener, after: start)
    #expect(said.messages == [event])
    // If all conversations go to the network, each room is heard under its own name.
    let everywhere = try self.listener(
      hearing: HeardConversations(named: HeardConversations(room.id).named) { _ in true })
    _ = try await listen(everywhere, after: start)
    // Other tests write into bob's other rooms.
    #expect(Set(said.all.map(\.conversation.text)).isSuperset(of: ["family", other.id]))
  }

  @Test func aWaitingListenerHearsAtOnceAndEndsAtOnce() async throws {
    let listener = try listener()
    let start = try await listen(listener, after: nil)
    let waiting = Task { try await listen(listener, after: start) }
    let event = try await say(Self.photo("a"))
    var next = try await waiting.value
    // A busy homeserver may end a wait without messages.
    for _ in 0..<10 where said.messages.isEmpty { next = try await listen(listener, after: next) }
    #expect(said.messages == [event])
    let began = ContinuousClock.now
    let ended = Task { [next] in try await listen(listener, after: next) }
    ended.cancel()
    await #expect(throws: CancellationError.self) { try await ended.value }
    // A homeserver would have waited for half a minute.
    #expect(ContinuousClock.now - began < .seconds(20))
  }
}
