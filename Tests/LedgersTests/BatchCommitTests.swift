import Messages
import TestSupport
import Testing

@testable import Ledgers

@Suite struct BatchCommitTests {
  private let fresh: FreshLedger
  private var ledger: Ledger { fresh.ledger }
  private let now = Timestamp(milliseconds: 1_800_000_000_000)
  private let local = Recipient(network: "local", address: Address(unchecked: "family"))

  init() async throws {
    fresh = try FreshLedger()
    _ = try await ledger.accept((1...5).map { NewRequest("r\($0)", inode: UInt64($0)) }, at: now)
  }

  private func head() async throws -> [QueuedMessage] { try await ledger.head(of: 1, limit: 9) }

  private func begin(_ run: ArraySlice<QueuedMessage>) async throws -> [Int]? {
    try await ledger.end(thenBegin: run.map { ($0, nil, local) }, at: now).attempts
  }

  private func end(
    _ sent: ArraySlice<QueuedMessage>, untried: ArraySlice<QueuedMessage> = [],
    next: [(QueuedMessage, String?)] = []
  ) async throws -> ([RequestState], [Int]?) {
    try await ledger.end(
      sent: sent.map { ($0, Published(at: now)) }, untried: Array(untried),
      thenBegin: next.map { ($0.0, $0.1, local) }, at: now)
  }

  private func states() async throws -> [MessageState] { try await head().map(\.state) }

  private func begun() async throws -> Int? {
    try await ledger.read { try Int.fetchOne($0, sql: "SELECT count(begun_at) FROM messages") }
  }

  @Test func theNextBeginInTheSameCommit() async throws {
    let head = try await head()
    #expect(try await begin(head[0..<1]) == [1])
    #expect(try await end(head[0..<1], next: [(head[1], nil), (head[2], nil)]) == ([.sent], [1, 1]))
    #expect(try await states() == [.publishing, .publishing, .pending, .pending])
    #expect(try await end(head[1..<3], next: [(head[3], "id")]) == ([.sent, .sent], [1]))
    let rest = try await self.head()
    #expect(rest.map(\.state) == [.publishing, .pending])
    #expect(rest[0].reserved == "id" && rest[0].attempts == 1 && rest[0].firstTriedAt == now)
    #expect(try await end(head[3...]) == ([.sent, .sent], []))
    #expect(try await ledger.unfiled(limit: 9).count == 5)
  }

  @Test func untriedMessagesAreUnchanged() async throws {
    let head = try await head()
    #expect(try await begin(head[0..<4]) == [1, 1, 1, 1])
    #expect(try await end(head[0..<1], untried: head[2..<4]) == ([.sent], []))
    let rest = try await self.head()
    #expect(rest.map(\.state) == [.publishing, .pending, .pending, .pending])
    #expect(rest.map(\.attempts) == [1, 0, 0, 0])
    #expect(rest[1].firstTriedAt == nil)
    #expect(try await begun() == 2)
    #expect(try await begin(rest[1..<2]) == [1])
  }

  @Test func heldConversationBeginsNothing() async throws {
    let head = try await head()
    #expect(try await begin(head[0..<1]) == [1])
    #expect(try await ledger.setHeld(true, ConversationID(unchecked: "family"), at: now) == true)
    #expect(try await end(head[0..<1], next: [(head[1], nil)]) == ([.sent], nil))
    #expect(try await begin(head[1..<2]) == nil)
    #expect(try await states() == [.pending, .pending, .pending, .pending])
  }

  @Test func cancelledMessageAndItsFollowersDoNotBegin() async throws {
    let head = try await head()
    _ = try await ledger.cancel("r3", at: now)
    #expect(try await begin(head[0..<4]) == [1, 1])
    #expect(try await states() == [.publishing, .publishing, .pending, .pending])
    #expect(try await begin(head[2..<3]) == [])
  }

  @Test func begunMessagesCannotBeCancelled() async throws {
    let head = try await head()
    #expect(try await begin(head[0..<2]) == [1, 1])
    #expect(try await ledger.cancel("r2", at: now).0 == .partly(published: ["text"]))
    #expect(try await end(head[0..<1], untried: head[1..<2]) == ([.sent], []))
    #expect(try await states() == [.pending, .pending, .pending, .pending])
  }
}
