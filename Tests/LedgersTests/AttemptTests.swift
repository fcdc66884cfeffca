import Messages
import TestSupport
import Testing

@testable import Ledgers

/// Attempts to publish: the last one is in the message's row, earlier ones have their own.
@Suite struct AttemptTests: LedgerSuite {
  let fresh: FreshLedger
  private var begun: Timestamp { now }
  private var later: Timestamp { begun.advanced(seconds: 60) }

  private func accept() async throws { _ = try await ledger.accept([NewRequest("a", inode: 1)], at: begun) }

  private func first() async throws -> QueuedMessage { try await head()[0] }

  private func attempts() throws -> [RequestStory.Attempt] {
    try #require(try LedgerView(in: state).story(of: "a")?.messages.first).attempts
  }

  @Test func oneThatRunsAndThenSucceeds() async throws {
    try await accept()
    #expect(try attempts().isEmpty)
    let message = try await first()
    #expect(try await ledger.beginPublishing(message, at: begun) == 1)
    #expect(try attempts().map(\.startedAt) == [begun])
    #expect(try attempts()[0].endedAt == nil)
    _ = try await ledger.markSent(message, Published(at: later), at: later)
    let attempt = try attempts()[0]
    #expect(attempt.number == 1 && attempt.step == "publish" && attempt.endedAt == later && attempt.error == nil)
  }

  @Test func oneThatFailsAndOneThatSucceeds() async throws {
    try await accept()
    _ = try await ledger.beginPublishing(first(), at: begun)
    try await ledger.postpone(
      first(), step: "publish", error: DeliveryError(.timeout, "slow"), until: later, keepsUpload: false, at: begun)
    #expect(try attempts().map(\.error) == ["slow"])
    let message = try await first()
    #expect(message.attempts == 1 && message.firstTriedAt == begun)
    #expect(try await ledger.beginPublishing(message, at: later) == 2)
    _ = try await ledger.markSent(message, Published(at: later), at: later)
    #expect(try attempts().map(\.number) == [1, 2])
    #expect(try attempts().map(\.cause) == ["timeout", nil])
  }

  @Test func oneThatACrashCutOff() async throws {
    try await accept()
    _ = try await ledger.beginPublishing(first(), at: begun)
    _ = try await ledger.recover(at: later)
    #expect(try await first().state == .publishing)
    #expect(try await ledger.beginPublishing(first(), at: later) == 2)
    #expect(try await first().firstTriedAt == begun)
    #expect(try attempts().map(\.startedAt) == [begun, later])
    #expect(try attempts().map(\.error) == ["interrupted; its outcome is not known", nil])
  }

  @Test func attemptsOfARetriedRequest() async throws {
    try await accept()
    _ = try await ledger.beginPublishing(first(), at: begun)
    _ = try await ledger.fail(first(), step: "publish", error: DeliveryError(.rejected, "no"), at: begun)
    try await ledger.markFiled(ledger.unfiled(limit: 1).map(\.row))
    try await accept()
    #expect(try await first().firstTriedAt == begun)
    #expect(try attempts().map(\.error) == ["no"])
  }
}
