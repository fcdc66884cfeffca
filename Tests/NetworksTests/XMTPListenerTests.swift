import Digests
import Foundation
import Messages
import Seals
import Synchronization
import TestSupport
import Testing

@testable import Networks

@Suite(.serialized) struct XMTPListenerTests {
  private func attachment(_ name: String) -> [String: any Sendable] {
    [
      "url": "https://photos.example/\(name)", "contentDigest": String(repeating: "ab", count: 32),
      "secret": String(repeating: "01", count: 32), "salt": String(repeating: "02", count: 32),
      "nonce": String(repeating: "03", count: 12), "scheme": "https://", "contentLength": 12, "filename": name,
    ]
  }

  /// Announces photos in one message by the reader, and returns its id.
  private func announce(_ names: [String], in group: String, _ world: XMTPWorld) async throws -> String {
    try await world.reader.order("send", ["to": group, "attachments": names.map(attachment)])["message"] ?? ""
  }

  private func hear(
    _ listener: XMTPListener, after position: String?
  ) async throws -> (arrivals: [Arrival], position: String) {
    let heard = Mutex<[Arrival]>([])
    let next = try await listener.listen(after: position) { arrivals in heard.withLock { $0 += arrivals } }
    return (heard.withLock(\.self), next)
  }

  /// The same, until it hears something.
  private func hearSome(
    _ listener: XMTPListener, after position: String?
  ) async throws -> (arrivals: [Arrival], position: String) {
    var (arrivals, position) = try await hear(listener, after: position)
    while arrivals.isEmpty { (arrivals, position) = try await hear(listener, after: position) }
    return (arrivals, position)
  }

  @Test("Photos that others send are heard in order, again until they are kept, and as they were encoded")
  func inOrder() async throws {
    let world = try await XMTPWorld()
    let network = world.sender()
    let (conversation, group) = try await world.group(with: network)
    let family = ConversationID(unchecked: "family")
    let listener = XMTPListener(network, conversations: HeardConversations(conversation.text))
    let ids = [
      try await announce(["a"], in: group, world), try await announce(["b", "c"], in: group, world),
    ]
    _ = try await world.reader.order("send", ["to": group, "text": "no photo"])
    // The identity's own messages are ignored.
    _ = try await world.send(world.message("m", .text("mine"), to: conversation), as: network)
    _ = try await world.send(world.message("n", try world.photo([1, 2, 3]).0, to: conversation), as: network)

    let first = try await hearSome(listener, after: nil)
    #expect(first.arrivals.map(\.message) == ids)
    #expect(first.arrivals.allSatisfy { $0.conversation == family })
    // One identity: 32 bytes in hexadecimal.
    let senders = Set(first.arrivals.map(\.sender?.text))
    #expect(senders.count == 1 && senders.first??.utf8.count == 64)
    #expect(
      try first.arrivals.map { try RemoteAttachmentContent.photos(decoding: $0.attachment).map(\.filename) } == [
        ["a"], ["b", "c"],
      ])
    // The position was not stored.
    #expect(try await hearSome(listener, after: nil).arrivals == first.arrivals)
    let again = try await hearSome(listener, after: nil)
    let later = try await announce(["d"], in: group, world)
    let second = try await hearSome(listener, after: again.position)
    #expect(second.arrivals.map(\.message) == [later])

    // Another process continues there, and may repeat messages near the position.
    try world.kill(network)
    let last = try await announce(["e"], in: group, world)
    var (messages, position) = ([String](), second.position)
    while !messages.contains(last) {
      do {
        let heard = try await hearSome(listener, after: position)
        (messages, position) = (messages + heard.arrivals.map(\.message), heard.position)
      } catch {
        // The kill causes one error.
        guard error.cause == .network else { throw error }
      }
    }
    #expect(Set(messages).isSubset(of: ids + [later, last]))
    #expect(Set(messages).count == messages.count)
    await network.stop()
  }

  @Test("Only conversations that are listened to are heard, and those without a route under their own names")
  func conversations() async throws {
    let world = try await XMTPWorld()
    let network = world.sender()
    let (_, group) = try await world.group(with: network)
    let direct = try await world.reader.order("direct", ["with": try await network.standing().inbox])["group"] ?? ""
    _ = try await announce(["group"], in: group, world)
    let toUs = try await announce(["direct"], in: direct, world)
    let friend = ConversationID(unchecked: "friend")
    let byAddress = XMTPListener(
      network,
      conversations: HeardConversations(named: [
        (address: Address(unchecked: "dm:\(world.readerAddress)"), conversation: friend),
        (address: Address(unchecked: "group:\(String(repeating: "0", count: 32))"), conversation: friend),
        (address: Address(unchecked: "no conversation of XMTP"), conversation: friend),
      ]))
    let heard = try await hearSome(byAddress, after: nil).arrivals
    #expect(heard.map(\.message) == [toUs] && heard.map(\.conversation) == [friend])
    let all = XMTPListener(
      network, conversations: HeardConversations(named: [], others: { $0.text.hasPrefix("group:") }))
    #expect(try await hearSome(all, after: nil).arrivals.map(\.conversation.text) == ["group:\(group)"])
    await network.stop()
  }

  @Test("A node that is away is a fault that passes, and what was sent meanwhile is heard")
  func away() async throws {
    let world = try await XMTPWorld()
    let network = world.sender()
    let (conversation, group) = try await world.group(with: network)
    let listener = XMTPListener(
      network, conversations: HeardConversations(conversation.text, as: conversation.text))
    _ = try await announce(["a"], in: group, world)
    let position = try await hearSome(listener, after: nil).position
    let listening = Task { try await hear(listener, after: position) }
    _ = try await world.relay.order("down")
    await #expect { _ = try await listening.value } throws: { $0.cause?.disposition == .retry }
    await #expect { _ = try await hear(listener, after: position) } throws: { $0.cause?.disposition == .retry }
    _ = try await world.relay.order("up")
    let id = try await announce(["b"], in: group, world)
    #expect(try await hearSome(listener, after: position).arrivals.map(\.message) == [id])
    await network.stop()
  }

  @Test(
    "An answer that is none, or only in part, brings nothing",
    arguments: [
      #"{"position":"p"}"#, #"{"heard":[]}"#, #"{"heard":[{"conversation":"family"}],"position":"p"}"#,
      #"{"heard":{},"position":"p"}"#,
    ])
  func incomplete(_ answer: String) async throws {
    let listener = try fake(answer)
    await #expect { _ = try await hear(listener, after: nil) } throws: { $0.cause == .network }
  }

  @Test("Only messages of conversations that are listened to are taken from an answer")
  func nonsense() async throws {
    let members = [
      (#""conversation":"family","message":"zz","content":"AAAA""#),
      (#""conversation":"family","message":"0a","content":"!""#),
      (#""conversation":"../etc","message":"0b","content":"AAAA""#),
      (#""conversation":"family","message":"0c","content":"AAAA""#),
    ]
    let listener = try fake(#"{"heard":[\#(members.map { "{\($0)}" }.joined(separator: ","))],"position":"p"}"#)
    let heard = try await hear(listener, after: nil)
    #expect(heard.arrivals.map(\.message) == ["0c"] && heard.position == "p")
  }

  /// A listener whose co-process gives this answer first.
  private func fake(_ answer: String) throws -> XMTPListener {
    let scratch = try TemporaryDirectory()
    try Data("{\"id\":1,\"ok\":\(answer)}".utf8).write(to: URL(fileURLWithPath: scratch.path("answer")))
    let program = CoProcessProgram(
      name: "xmtp", path: "/usr/bin/python3", arguments: [pythonScript("answer_once.py"), "--state", scratch.path])
    let network = XMTPNetwork(endpoint: "127.0.0.1:1", program) { [scratch] _ in _ = scratch }
    return XMTPListener(network, conversations: HeardConversations("family"))
  }
}
