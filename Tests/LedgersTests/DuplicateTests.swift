import GRDB
import Messages
import TestSupport
import Testing

@testable import Ledgers

@Suite("A second request with the key of an unsent one")
struct DuplicateTests: LedgerSuite {
  let fresh: FreshLedger

  private func request(
    _ name: String, inode: UInt64, to conversation: String = "family", key: String? = "k", digest: String = "d",
    files: [String] = ["photo", "text"]
  ) -> NewRequest {
    NewRequest(name, inode: inode, to: conversation, key: key, digest: digest, files: files)
  }

  private func fail() async throws {
    try await ledger.fail(head()[0], step: "prepare", error: DeliveryError(.truncatedImage, "cut"), at: now)
  }

  private func file() async throws { try await ledger.markFiled(ledger.unfiled(limit: 9).map(\.row)) }

  /// NAME STATE, and the first request of a duplicate.
  private func requests() async throws -> [String] {
    try await ledger.read { database in
      try String.fetchAll(
        database,
        sql: """
          SELECT request || ' ' || state || coalesce(' of ' || duplicate_of, '') FROM requests
          WHERE state <> 'abandoned' ORDER BY request
          """)
    }
  }

  private func waiting() async throws -> Int? {
    try await ledger.read { try Int.fetchOne($0, sql: "SELECT sum(waiting) FROM conversations") }
  }

  @Test("It ends with the first, and so do all others")
  func sent() async throws {
    try await accept(request("a", inode: 1), request("b", inode: 2), request("c", inode: 3))
    #expect(try await requests() == ["a queued", "b queued of a", "c queued of a"])
    #expect(try await head().map(\.isDuplicate) == [false, false, true, true, true, true])
    try await ledger.publishAll(at: now)
    #expect(try await requests() == ["a sent", "b duplicate of a", "c duplicate of a"])
    #expect(try await waiting() == 0)
    let unfiled = try await ledger.unfiled(limit: 9)
    #expect(unfiled.map(\.inode) == [1, 2, 3] && unfiled[1].messages.isEmpty)
    #expect(try await ledger.abandonedDrafts(limit: 9).isEmpty)
  }

  @Test("It is sent when the first fails, and a third one waits for it")
  func failed() async throws {
    try await accept(request("a", inode: 1), request("b", inode: 2), request("c", inode: 3))
    try await fail()
    #expect(try await accept(request("d", inode: 4)).map(\.state) == [.queued])
    let next = try await head()[0]
    #expect(next.request == "b" && next.isDuplicate)
    #expect(try await !ledger.decideDuplicate(next, at: now))
    #expect(try await head().map(\.isDuplicate) == [false, false, true, true, true, true])
    try await ledger.publishAll(at: now)
    #expect(try await requests() == ["a failed", "b sent", "c duplicate of b", "d duplicate of b"])
  }

  @Test("It is sent when the first is cancelled, and it can be cancelled itself")
  func cancelled() async throws {
    try await accept(request("a", inode: 1), request("b", inode: 2), request("c", inode: 3))
    #expect(try await ledger.cancel("b", at: now).0 == .cancelled)
    #expect(try await ledger.cancel("a", at: now).0 == .cancelled)
    #expect(try await !ledger.decideDuplicate(head()[0], at: now))
    try await ledger.publishAll(at: now)
    #expect(try await requests() == ["a cancelled", "b cancelled of a", "c sent"])
    #expect(try await waiting() == 0)
  }

  @Test("The first, sent again after it failed, waits for it, and keeps what was published of it")
  func revived() async throws {
    try await accept(request("a", inode: 1), request("b", inode: 2))
    _ = try await ledger.beginPublishing(head()[0], at: now)
    _ = try await ledger.markSent(head()[0], Published(at: now), at: now)
    try await fail()
    try await file()
    #expect(try await accept(request("a", inode: 1)).map(\.state) == [.queued])
    #expect(try await requests() == ["a queued of b", "b queued of a"])
    #expect(try await !ledger.decideDuplicate(head()[0], at: now))
    try await ledger.publishAll(at: now)
    #expect(try await requests() == ["a duplicate of b", "b sent"])
    #expect(try await ledger.unfiled(limit: 9).first { $0.request == "a" }?.messages.map(\.own.state) == [.sent])
  }

  @Test("The first, sent again after the second was sent, is a duplicate")
  func revivedLate() async throws {
    try await accept(request("a", inode: 1), request("b", inode: 2))
    try await fail()
    try await file()
    #expect(try await !ledger.decideDuplicate(head()[0], at: now))
    try await ledger.publishAll(at: now)
    #expect(try await accept(request("a", inode: 1)).map(\.state) == [.duplicate])
    #expect(try await accept(request("a", inode: 1)).map(\.wasKnown) == [true])
    #expect(try await head().isEmpty)
    #expect(try await waiting() == 0)
  }

  @Test("The upload of a draft that ends as a duplicate is deleted")
  func draft() async throws {
    try await accept(request("a", inode: 1))
    _ = try await ledger.enterDraft(request("b", inode: 2, files: ["photo"]), at: now)
    let photo = try await ledger.draftPhotos(limit: 9)[0].photo
    #expect(
      try await ledger.beginUploading(photo, photo: .prepared(), store: "s", object: "o", isSealed: true, at: now))
    #expect(try await accept(request("b", inode: 2)).map(\.state) == [.queued])
    try await ledger.publishAll(at: now)
    #expect(try await requests() == ["a sent", "b duplicate of a"])
    #expect(try await ledger.abandonedDrafts(limit: 9).flatMap { $0.photos.map(\.message.text) } == ["b/photo"])
  }

  @Test("In another conversation it is refused, and the error says so")
  func elsewhere() async throws {
    let accepted = try await accept(request("a", inode: 1), request("b", inode: 2, to: "friends", digest: "e"))
    #expect(accepted.map(\.state) == [.queued, .failed])
    #expect(
      accepted[1].error
        == "the id k was used by request a in another conversation, and an id counts for the whole inbox; choose another id, or none"
    )
  }

  @Test("A ledger that is made anew has it wait again")
  func restored() async throws {
    let found = ["a", "b"].enumerated().map { index, name in
      var row = RequestRow()
      row.request = name
      row.inode = UInt64(index)
      row.born = 1
      row.inbox = InboxID(unchecked: "me")
      row.key = "k"
      row.digest = "d"
      row.state = .queued
      row.acceptedAt = now
      var message = MessageRow()
      message.message = MessageID(unchecked: name)
      message.kind = .text
      message.state = .publishing
      return FoundRequest(row, error: nil, in: ConversationID(unchecked: "family"), [message])
    }
    try await ledger.restore(found, at: now)
    #expect(try await requests() == ["a queued", "b queued of a"])
    try await ledger.publishAll(at: now)
    #expect(try await requests() == ["a sent", "b duplicate of a"])
  }

  @Test("It goes with its conversation")
  func purged() async throws {
    try await accept(request("a", inode: 1), request("b", inode: 2))
    let purged = try #require(await ledger.beginPurge(of: ConversationID(unchecked: "family"), at: now))
    #expect(try await requests() == ["a cancelled", "b cancelled of a"])
    _ = try await ledger.endPurge(of: purged)
    #expect(try await requests().isEmpty)
  }
}
