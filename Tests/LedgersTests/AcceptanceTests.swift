import GRDB
import Messages
import TestSupport
import Testing

@testable import Ledgers

@Suite struct AcceptanceTests: LedgerSuite {
  let fresh: FreshLedger

  @Test func namesThatNoRequestHasAreCounted() async throws {
    try await accept(NewRequest("a", inode: 1), NewRequest("b", inode: 2))
    let unknown = try await ledger.unknownRequests { ask in
      try ask(["z.1", "a"])
      try ask(["b", "k-1_2", "y"])
    }
    #expect(unknown.count == 3)
    #expect(unknown.first == "k-1_2")
    #expect(try await ledger.unknownRequests { try $0(["b", "a"]) }.first == nil)
  }

  @Test func messagesWaitInOrderOfAcceptance() async throws {
    try await accept(NewRequest("b", inode: 1, files: ["photo-1", "photo-2", "text"]), NewRequest("a", inode: 2))
    #expect(try await head().map { "\($0.request)/\($0.file)" } == ["b/photo-1", "b/photo-2", "b/text", "a/text"])
    #expect(try await ledger.dueConversations(at: now, limit: 9) == [1])
  }

  @Test func takenNameFailsItsWholeBatch() async throws {
    try await accept(NewRequest("a", inode: 1))
    await #expect {
      try await ledger.accept(
        [NewRequest("b", inode: 2), NewRequest("a", inode: 3), NewRequest("b", inode: 4)], at: now)
    } throws: {
      ($0 as? NamesTaken)?.indices == [1, 2]
    }
    #expect(try await head().map(\.request) == ["a"])
    #expect(try await ledger.counts().accepted == 1)
  }

  @Test func theSameKeyIsSentOnceAndOtherContentsAreRefused() async throws {
    let accepted = try await accept(
      NewRequest("a", inode: 1, key: "k"), NewRequest("b", inode: 2, key: "k"),
      NewRequest("c", inode: 3, key: "k", digest: "x"))
    #expect(accepted.map(\.state) == [.queued, .queued, .failed])
    #expect(accepted[2].error?.contains("used by request a with other contents") == true)
    #expect(try await send(head()[0]) == .sent)
    #expect(try await head().isEmpty)
    #expect(try await accept(NewRequest("d", inode: 4, key: "k")).map(\.state) == [.duplicate])
  }

  @Test func aFailedRequestDoesNotHoldItsKey() async throws {
    try await accept(NewRequest("a", inode: 1, key: "k"))
    try await ledger.fail(head()[0], step: "publish", error: DeliveryError(.rejected, "no"), at: now)
    #expect(try await accept(NewRequest("b", inode: 2, key: "k")).map(\.state) == [.queued])
  }

  @Test func anInterruptedTakeOverIsKnownAgain() async throws {
    try await accept(NewRequest("a", inode: 1))
    let again = try await accept(NewRequest("a", inode: 1))
    #expect(again.map(\.wasKnown) == [true] && again[0].request == "a")
    #expect(try await head().count == 1)
  }

  @Test("A request that was read before it was sent and filed is not accepted a second time", arguments: [true, false])
  func readBeforeItWasFiled(isSent: Bool) async throws {
    try await accept(NewRequest("a", inode: 1))
    if isSent {
      try await send(head()[0])
    } else {
      try await ledger.fail(head()[0], step: "publish", error: DeliveryError(.rejected, "no"), at: now)
    }
    try await ledger.markFiled(ledger.unfiled(limit: 9).map(\.row))
    let again = try await ledger.accept([NewRequest("a", inode: 1)], at: now, isStillThere: { _ in false })
    #expect(again.map(\.wasKnown) == [true] && again[0].request == "a")
    #expect(try await head().isEmpty)
  }

  @Test func retrySendsOnlyTheUnsentMessages() async throws {
    try await accept(NewRequest("a", inode: 1, files: ["photo-1", "photo-2", "text"]))
    try await send(head()[0])
    try await ledger.fail(head()[0], step: "prepare", error: DeliveryError(.truncatedImage, "cut"), at: now)
    #expect(try await head().isEmpty)
    let unfiled = try await ledger.unfiled(limit: 9)
    #expect(unfiled.map(\.state) == [.failed] && unfiled[0].messages.map(\.own.state) == [.sent, .failed, .cancelled])
    try await ledger.markFiled(unfiled.map(\.row))
    try await accept(
      NewRequest("z", inode: 2), NewRequest("a", inode: 1, files: ["photo-1", "photo-2", "text"]),
      NewRequest("y", inode: 3),
      NewRequest("friend", inode: 4, to: "friends"))
    #expect(try await head().map { "\($0.request)/\($0.file)" } == ["z/text", "a/photo-2", "a/text", "y/text"])
    let waiting = try await ledger.read { database in
      try Int.fetchAll(database, sql: "SELECT waiting FROM conversations ORDER BY id")
    }
    #expect(waiting == [4, 1])
    #expect(try await ledger.dueConversations(at: now, limit: 9).count == 2)
  }

  /// As `request`, on a filesystem without times of birth.
  private func unborn(_ request: NewRequest, error: String? = nil) -> NewRequest {
    var unborn = NewRequest(
      droppedAs: request.droppedAs, inode: request.inode, born: 0, inbox: request.inbox, contents: request.contents)
    unborn.isMarked = { $0 == error }
    return unborn
  }

  /// The first photo is published; the second one fails the request, which is filed.
  private func failSecondPhoto(of request: NewRequest) async throws {
    try await accept(request)
    try await send(head()[0])
    try await ledger.fail(head()[0], step: "prepare", error: DeliveryError(.truncatedImage, "cut"), at: now)
    try await ledger.markFiled(ledger.unfiled(limit: 9).map(\.row))
  }

  @Test func reusedInodeRevivesNoFailedRequest() async throws {
    try await failSecondPhoto(of: unborn(NewRequest("a", inode: 1, files: ["photo-1", "photo-2"])))
    let other = NewRequest("b", inode: 1, to: "friends", files: ["photo-1", "text"])
    #expect(try await accept(unborn(other)).map(\.request) == ["b"])
    #expect(try await head(2).map(\.file) == ["photo-1", "text"])
  }

  @Test func failedRequestWithoutABirthTimeIsKnownByItsError() async throws {
    try await failSecondPhoto(of: unborn(NewRequest("a", inode: 1, files: ["photo-1", "photo-2"])))
    try await accept(unborn(NewRequest("c", inode: 1, files: ["photo-1", "photo-2"]), error: "photo-2: cut"))
    #expect(try await head().map { "\($0.request)/\($0.file)" } == ["a/photo-2"])
  }

  @Test func reusedInodeIsNoInterruptedTakeOver() async throws {
    try await accept(unborn(NewRequest("a", inode: 1)))
    #expect(try await accept(unborn(NewRequest("a", inode: 1))).map(\.wasKnown) == [true])
    let others = try await accept(unborn(NewRequest("b", inode: 1)), unborn(NewRequest("a", inode: 1, digest: "e")))
    #expect(others.map(\.wasKnown) == [false, false])
    #expect(others.map(\.request) == ["b", "a.2"])
  }
}
