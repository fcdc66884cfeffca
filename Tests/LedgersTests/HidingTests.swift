import GRDB
import Messages
import TestSupport
import Testing

@testable import Ledgers

@Suite struct HidingTests: LedgerSuite {
  let fresh: FreshLedger

  @Test func hiddenAgainChangesNoOtherPhoto() async throws {
    let family = ConversationID(unchecked: "family")
    for name in ["a", "b"] {
      _ = try await receive(new(name))
      _ = try await ledger.reveal(id(name), at: now)
    }
    try await ledger.setPreferences(fetch: nil, autoReveal: true, of: family, at: now)
    #expect(try await ledger.hide(id("a")) { _, _ in false } == .granted)
    #expect(try await ledger.hide(id("a")) { _, _ in false } == .already)
    #expect(try story("a").isHidden && !story("b").isHidden)
    // The conversation stays known, and its next photo is not its first.
    #expect(try await receive(new("c")) == .accepted([id("c")], .wanted))
    #expect(try !story("c").isHidden)
    #expect(try await ledger.reveal(id("a"), at: now) == .granted)
    #expect(try !story("a").isHidden)
  }

  @Test func photoOfWhichNothingCouldBeShownIsNotHidden() async throws {
    _ = try await receive(new("a"))
    _ = try await ledger.reveal(id("a"), at: now)
    try await ledger.write { try $0.execute(sql: "UPDATE received SET attachment = '{}'") }
    #expect(try await ledger.hide(id("a")) { _, _ in false } == .gone)
    #expect(try !story("a").isHidden)
    let family = ConversationID(unchecked: "family")
    #expect(try await ledger.hide(id("a")) { $0 == InboxID(unchecked: "me") && $1 == family } == .granted)
    #expect(try story("a").isHidden)
  }

  @Test func ownPhotosAreNeverHidden() async throws {
    _ = try await receive(new("a"))
    try await ledger.write { try $0.execute(sql: "UPDATE received SET own = 1, revealed_at = 1") }
    #expect(try await ledger.hide(id("a")) { _, _ in true } == .own)
    #expect(try await ledger.reveal(id("a"), at: now) == .own)
    #expect(try story("a").isOwn && !story("a").isHidden)
    #expect(try await ledger.hide(id("nothing")) { _, _ in true } == .unknown)
  }
}
