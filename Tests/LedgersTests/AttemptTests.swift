import DurableFiles
import GRDB
import Messages
import TestSupport
import Testing

@testable import Ledgers

/// Attempts to publish: the last one is in the message's row, earlier ones have their own.
@Suite struct AttemptTests {
  private let scratch: TemporaryDirectory
  private let state: Directory
  private let begun = Timestamp(milliseconds: 1_800_000_000_000)
  private var later: Timestamp { begun.advanced(seconds: 60) }

  init() throws {
    scratch = try TemporaryDirectory()
    state = try Directory(path: scratch.path)
  }

  private func accept(into ledger: Ledger) async throws {
    let text = NewRequest.Part(
      message: { MessageID(unchecked: "\($0)/text") }, kind: .text, file: "text", bytes: 5, digest: "f")
    let contents = NewRequest.Contents(
      conversation: ConversationID(unchecked: "family"), key: nil, digest: "d", parts: [text])
    let request = NewRequest(
      droppedAs: "a", inode: 1, born: 1, inbox: InboxID(unchecked: "me"), contents: .success(contents))
    _ = try await ledger.accept([request], at: begun)
  }

  private func first(_ ledger: Ledger) async throws -> QueuedMessage {
    try #require(try await ledger.head(of: 1, limit: 1).first)
  }

  private func attempts() throws -> [RequestStory.Attempt] {
    try #require(try LedgerView(in: state).story(of: "a")?.messages.first).attempts
  }

  @Test func oneThatRunsAndThenSucceeds() async throws {
    let ledger = try Ledger(in: state)
    try await accept(into: ledger)
    #expect(try attempts().isEmpty)
    let message = try await first(ledger)
    #expect(try await ledger.beginPublishing(message, at: begun) == 1)
    #expect(try attempts().map(\.startedAt) == [begun])
    #expect(try attempts()[0].endedAt == nil)
    _ = try await ledger.markSent(message, Published(at: later), at: later)
    let attempt = try attempts()[0]
    #expect(attempt.number == 1 && attempt.step == "publish" && attempt.endedAt == later && attempt.error == nil)
  }

  @Test func oneThatFailsAndOneThatSucceeds() async throws {
    let ledger = try Ledger(in: state)
    try await accept(into: ledger)
    _ = try await ledger.beginPublishing(first(ledger), at: begun)
    try await ledger.postpone(
      first(ledger), step: "publish", error: DeliveryError(.timeout, "slow"), until: later, keepsUpload: false,
      at: begun)
    #expect(try attempts().map(\.error) == ["slow"])
    let message = try await first(ledger)
    #expect(message.attempts == 1 && message.firstTriedAt == begun)
    #expect(try await ledger.beginPublishing(message, at: later) == 2)
    _ = try await ledger.markSent(message, Published(at: later), at: later)
    #expect(try attempts().map(\.number) == [1, 2])
    #expect(try attempts().map(\.cause) == ["timeout", nil])
  }

  @Test func oneThatACrashCutOff() async throws {
    let ledger = try Ledger(in: state)
    try await accept(into: ledger)
    _ = try await ledger.beginPublishing(first(ledger), at: begun)
    _ = try await ledger.recover(at: later)
    #expect(try await first(ledger).state == .publishing)
    #expect(try await ledger.beginPublishing(first(ledger), at: later) == 2)
    #expect(try await first(ledger).firstTriedAt == begun)
    #expect(try attempts().map(\.startedAt) == [begun, later])
    #expect(try attempts().map(\.error) == ["interrupted; its outcome is not known", nil])
  }

  @Test func thoseOfARequestThatFailedAndIsSentAgain() async throws {
    let ledger = try Ledger(in: state)
    try await accept(into: ledger)
    _ = try await ledger.beginPublishing(first(ledger), at: begun)
    _ = try await ledger.fail(
      first(ledger), step: "publish", error: DeliveryError(.rejected, "no"), at: begun)
    try await ledger.markFiled(ledger.unfiled(limit: 1).map(\.row))
    try await accept(into: ledger)
    #expect(try await first(ledger).firstTriedAt == begun)
    #expect(try attempts().map(\.error) == ["no"])
  }

  @Test func thoseOfAnEarlierVersionsLedger() async throws {
    try EarlierProgram.first.makeLedger(
      at: state.path(of: Ledger.fileName),
      holding: """
        INSERT INTO conversations (id, conversation, waiting) VALUES (1, 'family', 1);
        INSERT INTO requests (id, request, dropped_as, inode, born, conversation_id, inbox, state, bytes, accepted_at)
          VALUES (1, 'a', 'a', 1, 1, 1, 'me', 'queued', 5, 0), (2, 'b', 'b', 2, 1, 1, 'me', 'sent', 5, 0);
        INSERT INTO messages
            (message, request_id, conversation_id, position, kind, file, bytes, digest, state, attempts, sent_at)
          VALUES ('ma', 1, 1, 0, 'text', 'text', 5, 'f', 'publishing', 2, NULL),
            ('mb', 2, 1, 0, 'text', 'text', 5, 'f', 'sent', 1, 9);
        INSERT INTO attempts (message, number, step, started_at, ended_at) VALUES
          ('ma', 1, 'publish', 5, NULL), ('ma', 2, 'publish', 7, NULL), ('mb', 1, 'publish', 8, 9);
        """)
    let ledger = try Ledger(in: state)
    #expect(try await first(ledger).firstTriedAt == Timestamp(milliseconds: 5))
    #expect(try attempts().map(\.number) == [1, 2])
    #expect(try LedgerView(in: state).story(of: "b")?.messages.first?.attempts.map(\.number) == [1])
    _ = try await ledger.markSent(first(ledger), Published(at: later), at: later)
    #expect(try attempts().map(\.endedAt) == [Timestamp(milliseconds: 5), later])
  }
}
