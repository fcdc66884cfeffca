import Digests
import Messages
import TestSupport
import Testing

@testable import Ledgers

@Suite struct RestoredPhotoTests: LedgerSuite {
  let fresh: FreshLedger

  @Test func restoredPhotoIsHiddenAndRegainsItsKeysWhenRepeated() async throws {
    var reception = reception("a", 0, digest: SHA256Digest(of: Array("x".utf8)).hex)
    reception.sender = SenderID(unchecked: "@bob:example.org")
    try await ledger.restore([found(id("a"), reception)], at: now)
    #expect(try story("a").isHidden && story("a").state == .downloaded && story("a").wasCached)
    #expect(try LedgerView(in: state).preferences(of: "family") == ConversationPreferences())
    #expect(try await ledger.want(id("a"), at: now) == .gone)
    #expect(try await receive(new("a", text: "other")) == .conflict)
    // Strangers stay strangers.
    #expect(try await receive(new("b")) == .accepted([id("b")], .offered))
    #expect(try await receive(new("a")) == .known)
    #expect(try await ledger.want(id("a"), at: now) == .granted)
    let wanted = try #require(try await ledger.beginDownload(of: id("a"), at: now))
    #expect(wanted.photo.secret == "aa" && wanted.sender?.text == "@bob:example.org")
  }

  private func found(_ message: MessageID, _ reception: ReceivedRow) -> FoundPhoto {
    var photo = row
    photo.message = message
    photo.inbox = InboxID(unchecked: "me")
    photo.createdAt = now
    return FoundPhoto(photo, in: ConversationID(unchecked: "family"), reception: reception)
  }

  private func reception(_ remote: String, _ position: Int, digest: String) -> ReceivedRow {
    var row = ReceivedRow()
    row.remote = remote
    row.position = position
    row.digest = digest
    row.receivedAt = now
    return row
  }

  @Test func restoredPhotoWithAnUnreadableNoteIsCompletedWhenRepeated() async throws {
    let unreadable = reception(id("a").text, 0, digest: "")
    try await ledger.restore([found(id("a"), unreadable)], at: now)
    #expect(try await receive(new("a", in: "elsewhere")) == .conflict)
    #expect(try await receive(new("a")) == .known)
    #expect(try await receive(new("a", text: "other")) == .conflict)
    #expect(try story("a").state == .downloaded && story("a").isHidden)
    #expect(try await ledger.want(id("a"), at: now) == .granted)
    let wanted = try #require(try await ledger.beginDownload(of: id("a"), at: now))
    #expect(wanted.photo.secret == "aa" && wanted.remote == "a" && wanted.digest == new("a").digest.hex)
  }

  @Test func uncachedPhotoIsReceivedWhenRepeated() async throws {
    let whole = reception("a", 1, digest: SHA256Digest(of: Array("x".utf8)).hex)
    let unreadable = reception(id("a", 2).text, 0, digest: "")
    try await ledger.restore([found(id("a", 1), whole), found(id("a", 2), unreadable)], at: now)
    #expect(try await receive(new("a", photos: 3), fetch: .always) == .accepted([id("a")], .wanted))
    #expect(try await receive(new("a", photos: 3), fetch: .always) == .known)
    #expect(try LedgerView(in: state).photos(called: "a").count == 3)
    #expect(try await ledger.beginDownloads(limit: 9, perHost: 9, at: now).map(\.message) == [id("a")])
    for position in 1...2 { #expect(try await ledger.want(id("a", position), at: now) == .granted) }
    let others = try await ledger.beginDownloads(limit: 9, perHost: 9, at: now)
    #expect(others.map(\.position) == [1, 2] && others.allSatisfy { $0.photo.url.hasSuffix("\($0.position)") })
  }
}
