import Messages
import TestSupport
import Testing

@testable import Ledgers

@Suite struct ProgressTests: LedgerSuite {
  let fresh: FreshLedger

  @Test func theLastMessageEndsItsRequest() async throws {
    try await accept(NewRequest("a", inode: 1, files: ["photo", "text"]))
    #expect(try await send(head()[0]) == nil)
    #expect(try await send(head()[0]) == .sent)
    #expect(try await ledger.dueConversations(at: now, limit: 9).isEmpty)
    #expect(try await ledger.unfiled(limit: 9).map(\.request) == ["a"])
  }

  @Test func cancelAndPublishExcludeEachOther() async throws {
    try await accept(NewRequest("a", inode: 1, files: ["photo", "text"]))
    let (photo, text) = (try await head()[0], try await head()[1])
    #expect(try await ledger.beginPublishing(photo, at: now) == 1)
    let (outcome, messages) = try await ledger.cancel("a", at: now)
    #expect(outcome == .partly(published: ["photo"]) && messages == [text.message])
    #expect(try await ledger.beginPublishing(text, at: now) == nil)
    #expect(try await ledger.markSent(photo, Published(at: now), at: now) == .cancelled)
    #expect(try await ledger.cancel("a", at: now).0 == .tooLate(.cancelled))
    #expect(try await ledger.cancel("b", at: now).0 == .unknown)
  }

  @Test func aPostponedConversationIsDueAgainLaterOrAfterAFlush() async throws {
    try await accept(NewRequest("a", inode: 1))
    _ = try await ledger.beginPublishing(head()[0], at: now)
    let later = now.advanced(seconds: 60)
    try await ledger.postpone(
      head()[0], step: "publish", error: DeliveryError(.timeout, "slow"), until: later, keepsUpload: false, at: now)
    #expect(try await ledger.dueConversations(at: now, limit: 9).isEmpty)
    #expect(try await ledger.nextDue(after: now) == later)
    #expect(try await ledger.dueConversations(at: later, limit: 9) == [1])
    #expect(try await ledger.flush(at: now) == 1)
    #expect(try await ledger.dueConversations(at: now, limit: 9) == [1])
    #expect(try await head()[0].attempts == 1)
  }

  @Test func parkedConversationWaitsWithoutCountingItsAttempt() async throws {
    try await accept(NewRequest("a", inode: 1), NewRequest("b", inode: 2, to: "work"))
    let expiry = now.advanced(seconds: 432_000)
    let away = DeliveryError(.unreachable, "there is no route")
    for conversation: Int64 in [1, 2] {
      let message = try await head(conversation)[0]
      _ = try await ledger.beginPublishing(message, at: now)
      try await ledger.park(message, for: "matrix", error: away, until: expiry, keepsUpload: false, at: now)
    }
    #expect(try await ledger.dueConversations(at: now, limit: 9).isEmpty)
    #expect(try await ledger.nextDue(after: now) == expiry)
    let parked = try await head()[0]
    #expect(parked.attempts == 0 && parked.firstTriedAt == nil && parked.state == .pending)
    #expect(try await !ledger.releaseOne(waitingFor: "webhook", at: now))
    #expect(try await ledger.releaseOne(waitingFor: "matrix", at: now))
    #expect(try await ledger.dueConversations(at: now, limit: 9).count == 1)
    #expect(try await ledger.release(waitingFor: "matrix", at: now) == 1)
    #expect(try await ledger.dueConversations(at: now, limit: 9).count == 2)
  }

  @Test func interruptedAttemptIsRememberedWhenItsMessageIsParked() async throws {
    try await accept(NewRequest("a", inode: 1))
    _ = try await ledger.beginPublishing(head()[0], at: now)
    _ = try await ledger.recover(at: now)
    let found = try await head()[0]
    #expect(found.state == .publishing)
    let later = now.advanced(seconds: 90)
    try await ledger.park(
      found, for: "matrix", error: DeliveryError(.unreachable, "there is no route"), until: later, keepsUpload: false,
      at: later)
    let parked = try await head()[0]
    #expect(parked.attempts == 1 && parked.firstTriedAt == now)
  }

  @Test func clockSetBackStallsNobody() async throws {
    try await accept(NewRequest("a", inode: 1))
    let past = now.advanced(seconds: -400 * 86_400)
    #expect(try await ledger.dueConversations(at: past, limit: 9).isEmpty)
    try await ledger.clampDue(to: past)
    #expect(try await ledger.dueConversations(at: past, limit: 9) == [1])
  }

  @Test func clockSetBackByAnHourStallsNobodyAfterARestart() async throws {
    try await accept(NewRequest("a", inode: 1))
    let past = now.advanced(seconds: -3600)
    _ = try await ledger.recover(at: past)
    #expect(try await ledger.dueConversations(at: past, limit: 9) == [1])
  }

  @Test func aHeldConversationIsNotDue() async throws {
    try await accept(NewRequest("a", inode: 1))
    let family = ConversationID(unchecked: "family")
    #expect(try await ledger.setHeld(true, family, at: now) == true)
    #expect(try await ledger.setHeld(true, family, at: now) == false)
    #expect(try await ledger.dueConversations(at: now, limit: 9).isEmpty)
    #expect(try await ledger.setHeld(false, family, at: now) == true)
    #expect(try await ledger.dueConversations(at: now, limit: 9) == [1])
  }

  @Test func aReleaseOfAnUnknownConversationMakesNone() async throws {
    let unknown = ConversationID(unchecked: "famiyl")
    #expect(try await ledger.setHeld(false, unknown, at: now) == nil)
    #expect(try await ledger.setHeld(false, unknown, at: now) == nil)
    #expect(try await ledger.setHeld(true, unknown, at: now) == true)
  }
}
