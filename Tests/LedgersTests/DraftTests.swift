import Messages
import TestSupport
import Testing

@testable import Ledgers

@Suite struct DraftTests: LedgerSuite {
  let fresh: FreshLedger

  /// - Parameter files: by name, with the digest of each.
  private func request(
    _ name: String, inode: UInt64, to conversation: String = "family", from inbox: String = "me", key: String? = nil,
    owner: Int64? = nil, photos kind: MessageKind = .photo, _ files: KeyValuePairs<String, String>
  ) -> NewRequest {
    let parts = files.map { NewRequest.Part($0, $0 == "text" ? .text : kind, digest: $1) }
    return NewRequest(name, inode: inode, to: conversation, from: inbox, key: key, owner: owner, parts: parts)
  }

  @discardableResult
  private func draft(_ draft: NewRequest) async throws -> DraftEntry? {
    try await ledger.enterDraft(draft, at: now)
  }

  private func order(_ conversation: Int64 = 1) async throws -> [String] {
    try await ledger.head(of: conversation, limit: 100).map { "\($0.request)/\($0.file) \($0.state.rawValue)" }
  }

  private func photos() async throws -> [QueuedMessage] { try await ledger.draftPhotos(limit: 100).map(\.photo) }

  private func abandoned() async throws -> [String] {
    try await ledger.abandonedDrafts(limit: 100).flatMap { $0.photos.map(\.message.text) }
  }

  private func rows() async throws -> Int {
    try await ledger.read { database in
      try Int.fetchOne(
        database, sql: "SELECT (SELECT count(*) FROM requests) + (SELECT count(*) FROM messages)") ?? -1
    }
  }

  private func endAbandoned() async throws {
    for (row, _) in try await ledger.abandonedDrafts(limit: 100) { try await ledger.forgetAbandonedDraft(row) }
  }

  private func upload(_ photo: QueuedMessage) async throws -> Bool {
    let isBegun = try await ledger.beginUploading(
      photo, photo: .prepared(), store: "s", object: photo.message.text, isSealed: true, at: now)
    guard isBegun else { return false }
    return try await ledger.endUploading(photo)
  }

  @Test("A draft belongs to no conversation's queue and is not filed")
  func apart() async throws {
    #expect(try await draft(request("a", inode: 1, ["photo": "1", "text": "t"]))?.change == .new)
    #expect(try await order().isEmpty)
    #expect(try await ledger.dueConversations(at: now, limit: 9).isEmpty)
    #expect(try await ledger.nextDue(after: now) == nil)
    #expect(try await ledger.unfiled(limit: 9).isEmpty)
    #expect(try await ledger.flush(at: now) == 0)
    #expect(try LedgerView(in: state).shape(minutes: [5], at: now).isEmpty)
    #expect(try await photos().map(\.file) == ["photo"])
    var lines = [String]()
    try LedgerView(in: state).forEachLine { lines.append("\($0.request) \($0.state.rawValue) \($0.isDraft)") }
    #expect(lines == ["a pending true"])
    #expect(try LedgerView(in: state).story(of: "a")?.state == .draft)
    #expect(try await ledger.cancel("a", at: now).0 == .unknown)
  }

  @Test("A crash sets the photos of drafts back, like all others")
  func crash() async throws {
    try await draft(request("a", inode: 1, ["photo": "1"]))
    #expect(try await upload(photos()[0]))
    #expect(try await ledger.recover(at: now) == 1)
    #expect(try await photos().map(\.state) == [.pending])
    #expect(try await ledger.claimAbandonedUploads(limit: 9).map(\.object) == ["a/photo"])
  }

  @Test("A photo that cannot be sent is left alone until something changes, or its draft is looked at anew")
  func givenUp() async throws {
    let first = request("a", inode: 1, ["photo-1": "1", "photo-2": "2"])
    try await draft(first)
    let waiting = try await photos()
    #expect(
      try await ledger.postponeDraftPhoto(waiting[0], error: DeliveryError(.truncatedImage, "cut"), until: nil))
    let later = now.advanced(seconds: 60)
    #expect(try await ledger.postponeDraftPhoto(waiting[1], error: DeliveryError(.timeout, "slow"), until: later))
    #expect(try await ledger.draftPhotos(limit: 9).map(\.nextAttempt) == [later])
    _ = try await ledger.flush(at: now)
    #expect(try await ledger.draftPhotos(limit: 9).map(\.nextAttempt) == [now])
    #expect(try await draft(first) == DraftEntry(request: "a", change: .none, superseded: []))
    #expect(try await photos().map(\.file) == ["photo-1", "photo-2"])
  }

  @Test("A query for a user's first photos reads no later drafts and sorts nothing")
  func manyDrafts() async throws {
    for number in 0..<9 {
      try await draft(request("a\(number)", inode: UInt64(number + 1), to: "c\(number)", owner: 1, ["photo": "1"]))
    }
    try await draft(request("b", inode: 99, ["photo": "1"]))
    #expect(try await upload(photos()[0]))
    #expect(try await ledger.draftPhotos(limit: 2).map(\.photo.request) == ["a0", "a1", "b"])
    #expect(
      try await ledger.draftPhotos(limit: 2, areUploadedLeftOut: true).map(\.photo.request) == ["a1", "b"])
    let plan: [String] = try await ledger.read { database in
      try database.all("EXPLAIN QUERY PLAN \(LedgerSchema.nextOwnerOfDrafts)", 1) { $0["detail"] }
        + database.all("EXPLAIN QUERY PLAN \(LedgerSchema.photosOfOwner)", 1, 2) { $0["detail"] }
    }
    #expect(plan.count == 3 && plan.allSatisfy { $0.hasPrefix("SEARCH") }, "\(plan)")
  }

  @Test("A draft that changes keeps what is the same, and sets the rest aside")
  func changes() async throws {
    try await draft(request("a", inode: 1, ["photo-1": "1", "photo-2": "2", "photo-3": "3"]))
    let before = try await photos()
    for photo in before { #expect(try await upload(photo)) }
    let entry = try #require(try await draft(request("a", inode: 1, ["photo-1": "1", "photo-2": "x"])))
    #expect(entry.request == "a" && entry.change == .changed)
    #expect(entry.superseded == [SupersededPhoto(message: before[1].message, source: before[1].source)])
    #expect(try await photos().map { "\($0.file) \($0.state.rawValue)" } == ["photo-1 uploaded", "photo-2 pending"])
    #expect(try await abandoned() == ["a/photo-3"])
    // Tasks of replaced photos change nothing.
    #expect(try await !ledger.beginPreparing(before[1]))
    #expect(try await !ledger.beginPreparing(before[2]))
  }

  @Test("A user's draft replaces no other user's, and many of one user keep nobody else's from being uploaded")
  func users() async throws {
    try await draft(request("a", inode: 1, owner: 1, ["photo": "1"]))
    try await draft(request("b", inode: 2, owner: 2, ["photo": "1"]))
    try await draft(request("c", inode: 3, to: "friends", owner: 1, ["photo": "1"]))
    #expect(try await ledger.replacedDrafts().isEmpty)
    #expect(try await ledger.draftPhotos(limit: 1).map(\.photo.request) == ["a", "b"])
    #expect(try await ledger.draftPhotos(limit: 2).map(\.photo.request) == ["a", "b", "c"])
    try await draft(request("d", inode: 4, owner: 2, ["photo": "1"]))
    #expect(try await ledger.replacedDrafts().map(\.request) == ["b"])
  }

  @Test("Another photo for the same conversation from the same inbox replaces a draft, and nobody else's")
  func replaced() async throws {
    try await draft(request("a", inode: 1, ["photo": "1"]))
    try await draft(request("b", inode: 2, to: "friends", ["photo": "1"]))
    try await draft(request("c", inode: 3, from: "you", ["photo": "1"]))
    #expect(try await ledger.replacedDrafts().isEmpty)
    try await draft(request("d", inode: 4, ["photo": "1"]))
    #expect(try await ledger.replacedDrafts().map(\.request) == ["a"])
    try await accept(request("a", inode: 1, ["photo": "1"]))
    #expect(try await ledger.replacedDrafts().isEmpty)
  }

  @Test("A draft that is set aside leaves its name at once and its rows when all else is gone")
  func removed() async throws {
    try await draft(request("a", inode: 1, ["photo": "1"]))
    let draft = try #require(try await ledger.draft("a"))
    let photo = try await photos()[0]
    #expect(try await upload(photo))
    #expect(try await ledger.abandonDraft(draft))
    #expect(try await !ledger.abandonDraft(draft))
    #expect(try await ledger.draft("a") == nil)
    #expect(try await ledger.drafts(droppedAs: "a").isEmpty)
    #expect(try await abandoned() == ["a/photo"])
    #expect(try await !ledger.endUploading(photo))
    #expect(try await ledger.unfiled(limit: 9).isEmpty)
    // The same directory before the end of the first draft: a new draft.
    #expect(try await self.draft(request("a", inode: 1, ["photo": "1"]))?.request == "a")
    #expect(try await photos().map(\.state) == [.pending])
    try await endAbandoned()
    #expect(try await ledger.abandonDraft(#require(try await ledger.draft("a"))))
    try await endAbandoned()
    #expect(try await rows() == 0)
  }

  @Test("A sent or failed draft is no longer a draft")
  func known() async throws {
    try await accept(request("a", inode: 1, ["photo": "1"]))
    #expect(try await draft(request("a", inode: 1, ["photo": "1"])) == nil)
    try await ledger.fail(
      ledger.head(of: 1, limit: 1)[0], step: "prepare", error: DeliveryError(.truncatedImage, "cut"), at: now)
    try await ledger.markFiled(ledger.unfiled(limit: 9).map(\.row))
    #expect(try await draft(request("a", inode: 1, ["photo": "1"])) == nil)
  }

  @Test("Send puts a draft behind everything sent before, and its photo keeps its progress")
  func sent() async throws {
    try await draft(request("a", inode: 1, ["photo": "1"]))
    let photo = try await photos()[0]
    #expect(try await ledger.beginPreparing(photo))
    try await accept(request("b", inode: 2, ["text": "t"]))
    let accepted = try await accept(request("a", inode: 1, ["photo": "1", "text": "t"]))
    #expect(
      accepted == [
        Acceptance(droppedAs: "a", request: "a", state: .queued, error: nil, wasKnown: false, wasDraft: true)
      ])
    #expect(try await order() == ["b/text pending", "a/photo preparing", "a/text pending"])
    // The draft's task continues with the new row.
    #expect(try await upload(photo))
    #expect(try await order() == ["b/text pending", "a/photo uploaded", "a/text pending"])
    #expect(try await abandoned().isEmpty)
    #expect(try await photos().isEmpty)
    #expect(try await !ledger.postponeDraftPhoto(photo, error: DeliveryError(.timeout, "slow"), until: now))
    #expect(try await accept(request("a", inode: 1, ["photo": "1"])).map(\.wasKnown) == [true])
    try await ledger.publishAll(at: now)
    #expect(try await ledger.dueConversations(at: now, limit: 9).isEmpty)
    #expect(try await ledger.unfiled(limit: 9).map(\.request) == ["b", "a"])
  }

  @Test("What was changed before Send starts again, and what was taken out is set aside")
  func sentChanged() async throws {
    try await draft(request("a", inode: 1, ["photo-1": "1", "photo-2": "2", "photo-3": "3"]))
    let before = try await photos()
    for photo in before { #expect(try await upload(photo)) }
    let accepted = try await accept(request("a", inode: 1, ["photo-2": "x", "photo-3": "3", "photo-4": "4"]))
    #expect(accepted[0].superseded.map(\.message.text) == ["a/photo-2"])
    #expect(try await order() == ["a/photo-2 pending", "a/photo-3 uploaded", "a/photo-4 pending"])
    #expect(try await abandoned() == ["a/photo-1"])
    #expect(try await !ledger.beginPreparing(before[1]))
  }

  @Test("A draft that is sent elsewhere, or under another name, starts again")
  func sentElsewhere() async throws {
    try await draft(request("a", inode: 1, ["photo": "1"]))
    try await draft(request("b", inode: 2, to: "friends", ["photo": "1"]))
    for photo in try await photos() { #expect(try await upload(photo)) }
    let accepted = try await accept(
      request("a", inode: 1, to: "others", ["photo": "1"]), request("c", inode: 2, to: "friends", ["photo": "1"]))
    #expect(accepted.map(\.request) == ["a", "c"])
    #expect(accepted[0].superseded.map(\.source.conversation.text) == ["family"])
    #expect(try await order(3) == ["a/photo pending"])
    #expect(try await order(2) == ["c/photo pending"])
    #expect(try await abandoned() == ["b/photo"])
  }

  @Test("A draft that is sent as a profile photo hands over its place")
  func sentAsProfile() async throws {
    try await draft(request("a", inode: 1, ["photo": "1"]))
    let accepted = try await accept(request("a", inode: 1, to: "me", photos: .profile, ["photo": "1"]))
    #expect(accepted.map(\.state) == [.queued])
    #expect(accepted[0].superseded.map(\.source.conversation.text) == ["family"])
    #expect(try await order(2) == ["a/photo pending"])
    #expect(try await photos().isEmpty)
  }

  @Test("A draft that Send refuses, or that was sent before, leaves nothing of its upload")
  func refused() async throws {
    try await accept(request("first", inode: 9, key: "k", ["photo": "1"]))
    try await draft(request("a", inode: 1, ["photo": "1"]))
    try await ledger.publishAll(at: now)
    try await draft(request("b", inode: 2, key: "k", ["photo": "1"]))
    let accepted = try await accept(
      NewRequest(
        droppedAs: "a", inode: 1, born: 1, inbox: InboxID(unchecked: "me"),
        contents: .failure(DeliveryError(.malformedRequest, "no"))),
      request("b", inode: 2, key: "k", ["photo": "1"]))
    #expect(accepted.map(\.state) == [.failed, .duplicate])
    #expect(try await abandoned() == ["a/photo", "b/photo"])
    #expect(try await ledger.unfiled(limit: 9).map(\.request) == ["first", "a", "b"])
    // It returns corrected before the old one is removed.
    try await ledger.markFiled(ledger.unfiled(limit: 9).map(\.row))
    let again = try await accept(request("a", inode: 1, ["photo": "1"]))
    #expect(again.map(\.state) == [.queued] && again[0].superseded.map(\.message.text) == ["a/photo"])
  }

  @Test("The key of a draft blocks nothing before Send")
  func key() async throws {
    try await draft(request("a", inode: 1, key: "k", ["photo": "1"]))
    #expect(try await accept(request("b", inode: 2, key: "k", ["photo": "1"])).map(\.state) == [.queued])
    try await ledger.publishAll(at: now)
    #expect(try await accept(request("a", inode: 1, key: "k", ["photo": "1"])).map(\.state) == [.duplicate])
  }
}
