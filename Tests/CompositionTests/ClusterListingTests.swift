import Clusters
import Messages
import TestSupport
import Testing

@testable import Composition

@Suite struct ClusterListingTests {
  private static let seal = ClusterSeal(secret: Array("a secret of the listing".utf8))
  private let queue = MemoryQueue(patience: .milliseconds(1), memory: .seconds(1))

  @Test("Requests are listed with the host that accepted them, their owner, and whether they are held")
  func lists() async throws {
    let (camera, worker, unknown) = try (host("1"), host("2"), host("3"))
    try await beat(camera, "camera")
    try await beat(worker, "worker")
    try await append(.requests([request("held", of: camera, to: "family")]), to: "family")
    try await append(.hold(conversation: "family"), to: "family")
    try await append(.hold(conversation: "friends"), to: "friends")
    try await append(.requests([request("open", of: unknown, to: "friends")]), to: "friends")
    try await append(.release(conversation: "friends"), to: "friends")
    _ = try await queue.take(Partition(of: ConversationID("family")), for: worker, replacing: [])
    let (lines, complaints) = try await listed()
    #expect(complaints == [])
    let held = try #require(lines.first { $0.request == "held" })
    #expect((held.host, held.owner, held.held) == ("camera", "worker", true))
    #expect((held.conversation, held.messages, held.bytes) == ("family", 1, 5))
    let open = try #require(lines.first { $0.request == "open" })
    #expect((open.host, open.owner, open.held) == (unknown.text, nil, false))
    #expect(lines.count == 2)
  }

  @Test("A record that cannot be opened is named, and the others are listed")
  func unreadable() async throws {
    let camera = try host("1")
    let id = try #require(RecordID(String(repeating: "a", count: 32)))
    _ = try await queue.append([1, 2, 3], as: id, to: Partition(of: ConversationID("family")))
    try await append(.requests([request("open", of: camera, to: "family")]), to: "family")
    let (lines, complaints) = try await listed()
    #expect(lines.map(\.request) == ["open"])
    #expect(complaints.count == 1 && complaints.allSatisfy { $0.contains("record \(id)") })
  }

  private func listed() async throws -> (lines: [ClusterListing.Line], complaints: [String]) {
    var (lines, complaints) = ([ClusterListing.Line](), [String]())
    try await ClusterListing(queue: queue, seal: Self.seal).forEachLine {
      lines.append($0)
    } unreadable: {
      complaints.append($0)
    }
    return (lines, complaints)
  }

  private func host(_ digit: String) throws -> HostID { try #require(HostID(String(repeating: digit, count: 32))) }

  private func beat(_ host: HostID, _ name: String) async throws {
    try await queue.beat(Beat(host: host, name: name, works: true, version: 1, routes: ""))
  }

  private func request(_ name: String, of host: HostID, to conversation: String) -> RelayedRequest {
    let text = RelayedRequest.Message(
      message: String(repeating: "b", count: 32), kind: .text, position: 0, file: "text", bytes: 5, digest: "",
      text: "hello", mayBePublished: false)
    return RelayedRequest(
      host: host, request: name, conversation: conversation, inbox: "main", acceptedAt: 1_700_000_000_000,
      messages: [text])
  }

  private func append(_ contents: RecordContents, to conversation: String) async throws {
    let id =
      switch contents {
      case .requests(let requests): RecordID(of: requests.map(\.id))
      default:
        RecordID((0..<32).compactMap { _ in "0123456789abcdef".randomElement() }.reduce(into: "") { $0.append($1) })
      }
    let record = try #require(id)
    _ = try await queue.append(
      try Self.seal.record(contents, as: record), as: record, to: Partition(of: ConversationID(conversation)))
  }
}
