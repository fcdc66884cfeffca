import DurableFiles
import Messages
import TestSupport
import Testing

@testable import Ledgers

/// The commit that ends a message may begin the one behind it.
@Suite struct NextMessageTests {
  private let scratch: TemporaryDirectory
  private let ledger: Ledger
  private let now = Timestamp(milliseconds: 1_800_000_000_000)
  private let family = ConversationID(unchecked: "family")

  init() async throws {
    scratch = try TemporaryDirectory()
    ledger = try Ledger(in: Directory(path: scratch.path))
    let requests = (1...3).map { number in
      let text = NewRequest.Part(
        message: { MessageID(unchecked: $0) }, kind: .text, file: "text", bytes: 5, digest: "f")
      return NewRequest(
        droppedAs: "r\(number)", inode: UInt64(number), born: 1, inbox: InboxID(unchecked: "me"),
        contents: .success(NewRequest.Contents(conversation: family, key: nil, digest: "d", parts: [text])))
    }
    _ = try await ledger.accept(requests, at: now, isTaken: { _ in false }, alternative: { name, _ in name })
  }

  /// The first is being published.
  private func head() async throws -> [QueuedMessage] {
    let head = try await ledger.head(of: 1, limit: 9)
    #expect(try await ledger.beginPublishing(head[0], at: now) == 1)
    return head
  }

  private func end(_ message: QueuedMessage, thenBegin next: QueuedMessage) async throws -> (RequestState?, Int?) {
    try await ledger.markSent(message, Published(at: now), thenBegin: next, reserved: "id", at: now)
  }

  private func states() async throws -> [MessageState] { try await ledger.head(of: 1, limit: 9).map(\.state) }

  @Test func theNextOneBegins() async throws {
    let head = try await head()
    #expect(try await end(head[0], thenBegin: head[1]) == (.sent, 1))
    let rest = try await ledger.head(of: 1, limit: 9)
    #expect(rest.map(\.state) == [.publishing, .pending])
    #expect(rest[0].reserved == "id" && rest[0].attempts == 1 && rest[0].firstTriedAt == now)
    #expect(try await end(rest[0], thenBegin: rest[1]) == (.sent, 1))
    #expect(try await ledger.markSent(head[2], Published(at: now), at: now) == .sent)
    #expect(try await ledger.unfiled(limit: 9).count == 3)
  }

  @Test func whatIsHeldMeanwhileDoesNotBegin() async throws {
    let head = try await head()
    #expect(try await ledger.setHeld(true, family, at: now))
    #expect(try await end(head[0], thenBegin: head[1]) == (.sent, nil))
    #expect(try await states() == [.pending, .pending])
  }

  @Test func whatIsCancelledMeanwhileDoesNotBegin() async throws {
    let head = try await head()
    _ = try await ledger.cancel("r2", at: now)
    #expect(try await end(head[0], thenBegin: head[1]) == (.sent, nil))
    #expect(try await states() == [.pending])
  }
}
