import Digests
import GRDB
import Messages
import TestSupport
import Testing

@testable import Ledgers

@Suite struct ReceivingTests: LedgerSuite {
  let fresh: FreshLedger

  @Test func aMessageIsReceivedOnceForItsInboxAndId() async throws {
    #expect(try await receive(new("a", photos: 2)) == .accepted([id("a"), id("a", 1)], .offered))
    #expect(try await receive(new("a", photos: 2)) == .known)
    #expect(try await receive(new("a", text: "other")) == .conflict)
    #expect(try await receive(new("a", in: "elsewhere")) == .conflict)
    #expect(try LedgerView(in: state).photos(called: "a").count == 2)
  }

  @Test func receivedMessageNamedLikeAnOwnPhotoIsRefused() async throws {
    try await ledger.write { database in
      let family = try database.conversation(ConversationID(unchecked: "family"), now: Timestamp(milliseconds: 1))
      try database.execute(
        sql: """
          INSERT INTO received (message, inbox, conversation_id, remote, position, own, digest, attachment, state,
            received_at) VALUES ('ours', 'me', ?, 'ours', 0, 1, 'd', '{"url":"https://example.org"}', 'downloaded', 1)
          """,
        arguments: [family])
    }
    #expect(try await receive(new("ours")) == .conflict)
  }

  @Test func ownPhotoCanBeWantedDespiteAForeignMessageOfItsName() async throws {
    #expect(try await receive(new("ours")) == .accepted([id("ours")], .offered))
    try await ledger.write { database in
      try database.execute(
        sql: """
          INSERT INTO photos (message, inbox, conversation_id, file, format, original_bytes, original_width,
              original_height, bytes, width, height, digest, path, thumbnail_bytes, created_at, attachment)
            SELECT 'ours', 'me', id, '', '', 1, 1, 1, 1, 1, 1, '', '', 1, 1, '{"url":"https://example.org"}'
              FROM conversations
          """)
    }
    #expect(try await ledger.want(MessageID(unchecked: "ours"), at: now) == .granted)
    let wanted = try await ledger.beginDownloads(limit: 9, perHost: 9, at: now)
    #expect(wanted.map(\.message.text) == ["ours"] && wanted.allSatisfy(\.isOwn))
    #expect(try await receive(new("ours")) == .known)
  }

  @Test func receivedRowOutlivesThePhoto() async throws {
    _ = try await receive(new("a"), fetch: .always)
    let wanted = try #require(try await ledger.beginDownloads(limit: 9, perHost: 9, at: now).first)
    #expect(try await end(wanted) == .kept)
    try await ledger.expireRemotes(at: now.advanced(seconds: 1))
    for layer in [CacheLayer.lastCopies, .thumbnails] {
      let candidates = try await ledger.evictionCandidates(layer, inbox: nil, conversation: nil, need: 99)
      _ = try await ledger.evict(candidates) { _, _ in }
      _ = try await ledger.evict([]) { _, _ in }
    }
    #expect(try await ledger.forgetGonePhotos() == 1)
    #expect(try await receive(new("a"), fetch: .always) == .known)
    #expect(try story("a").state == .downloaded && !story("a").wasCached && story("a").isHidden)
    // It can be fetched as long as its sender keeps it.
    #expect(try await ledger.want(id("a"), at: now) == .granted)
  }

  private func sent(_ remote: String, by sender: String?) async throws -> Reception {
    let message = NewReceived(
      inbox: InboxID(unchecked: "me"), conversation: ConversationID(unchecked: "family"), remote: remote,
      sender: sender.map(SenderID.init(unchecked:)), digest: SHA256Digest(of: []),
      photos: [RemotePhoto(url: "https://example.org")])
    return try await receive(message, fetch: .always)
  }

  @Test func senderIsKnownUntilThePurge() async throws {
    _ = try await sent("a", by: "@bob:example.org")
    _ = try await sent("b", by: nil)
    #expect(try await sent("a", by: "@eve:example.org") == .known)
    var senders = [String?]()
    try LedgerView(in: state).forEachReceived(inbox: nil, conversation: "family") { senders.append($0.sender) }
    #expect(senders == ["@bob:example.org", nil])
    let wanted = try await ledger.beginDownloads(limit: 9, perHost: 9, at: now)
    #expect(wanted.map(\.sender?.text) == ["@bob:example.org", nil])
    for photo in wanted { #expect(try await end(photo) == .kept) }
    var cached = [String?]()
    try LedgerView(in: state).forEachPhoto(inbox: nil, conversation: nil) {
      cached.append($0.sender)
      #expect($0.hidden)
    }
    #expect(cached == ["@bob:example.org", nil])
    let purged = try #require(try await ledger.beginPurge(of: ConversationID(unchecked: "family"), at: now))
    _ = try await ledger.endPurge(of: purged)
    #expect(try await ledger.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM received") } == 0)
  }

  @Test func strangersPhotosAreFetchedOnlyUnderAlways() async throws {
    #expect(try await receive(new("a"), fetch: .known) == .accepted([id("a")], .offered))
    #expect(try await receive(new("b"), fetch: .ask) == .accepted([id("b")], .offered))
    #expect(try await receive(new("c"), fetch: .always) == .accepted([id("c")], .wanted))
    #expect(try await ledger.beginDownloads(limit: 9, perHost: 9, at: now).map(\.message) == [id("c")])
  }

  @Test func aRevealedPhotoMakesItsConversationKnown() async throws {
    _ = try await receive(new("a"))
    #expect(try await ledger.reveal(id("a"), at: now) == .granted)
    #expect(try await receive(new("b")) == .accepted([id("b")], .wanted))
    #expect(try await receive(new("c", in: "strangers")) == .accepted([id("c")], .offered))
  }

  @Test func conversationPreferenceOverridesTheConfiguration() async throws {
    let family = ConversationID(unchecked: "family")
    try await ledger.setPreferences(fetch: .always, autoReveal: nil, of: family, at: now)
    #expect(try await receive(new("a"), fetch: .ask) == .accepted([id("a")], .wanted))
    try await ledger.setPreferences(fetch: .ask, autoReveal: nil, of: family, at: now)
    #expect(try await receive(new("b"), fetch: .always) == .accepted([id("b")], .offered))
  }

  @Test func inboxPolicyOverridesTheConfigurationButNotTheConversation() async throws {
    let me = InboxID(unchecked: "me")
    try await ledger.setFetchPolicy(.always, of: InboxID(unchecked: "another"))
    #expect(try await receive(new("a"), fetch: .ask) == .accepted([id("a")], .offered))
    try await ledger.setFetchPolicy(.ask, of: me)
    try await ledger.setFetchPolicy(.always, of: me)
    #expect(try LedgerView(in: state).fetchPolicy(of: me) == .always)
    #expect(try await receive(new("b"), fetch: .ask) == .accepted([id("b")], .wanted))
    try await ledger.setPreferences(fetch: .ask, autoReveal: nil, of: ConversationID(unchecked: "family"), at: now)
    #expect(try await receive(new("c"), fetch: .ask) == .accepted([id("c")], .offered))
  }

  @Test func photosOfABusyHostDelayNoOthers() async throws {
    func received(_ remote: String, at url: String) async throws {
      let message = NewReceived(
        inbox: InboxID(unchecked: "me"), conversation: ConversationID(unchecked: "family"), remote: remote,
        digest: SHA256Digest(of: Array(remote.utf8)), photos: [RemotePhoto(url: url)])
      #expect(try await receive(message, fetch: .always) == .accepted([id(remote)], .wanted))
    }
    for number in 1...4 { try await received("slow-\(number)", at: "https://Slow.example:8443/\(number)") }
    try await received("good", at: "https://good.example/1")
    func begin(_ limit: Int) async throws -> [MessageID] {
      try await ledger.beginDownloads(limit: limit, perHost: 2, at: now).map(\.message)
    }
    #expect(try await begin(9) == [id("slow-1"), id("slow-2"), id("good")])
    // Nothing can begin before one of them ends.
    #expect(try await begin(9).isEmpty)
    #expect(try await ledger.nextDownload(perHost: 2) == nil)
    #expect(try await ledger.failDownload(of: id("slow-1"), error: DeliveryError(.timeout, "slow")))
    #expect(try await ledger.nextDownload(perHost: 2) != nil)
    #expect(try await begin(9) == [id("slow-3")])
  }

  @Test func receivedPhotosAreCountedByStateAndForGood() async throws {
    func expectTruth(_ place: String) async throws {
      let counts = try await ledger.counts()
      let states = try await ledger.read {
        try String.fetchAll($0, sql: "SELECT state FROM received WHERE own = 0")
      }
      for state in ReceivedState.allCases {
        #expect(counts.received[state] == states.count { $0 == state.rawValue }, "\(state) \(place)")
      }
    }
    _ = try await receive(new("a", photos: 2), fetch: .always)
    _ = try await receive(new("b", in: "strangers"), fetch: .ask)
    try await expectTruth("received")
    let wanted = try await ledger.beginDownloads(limit: 9, perHost: 9, at: now)
    try await expectTruth("begun")
    #expect(try await end(wanted[0]) == .kept)
    _ = try await ledger.postponeDownload(of: wanted[1].message, error: DeliveryError(.notFound, "not yet"), until: now)
    try await expectTruth("ended")
    #expect(try await ledger.forgetAnnouncements(before: now.advanced(seconds: 1)) == 1)
    try await expectTruth("forgotten")
    let purged = try #require(try await ledger.beginPurge(of: ConversationID(unchecked: "family"), at: now))
    _ = try await ledger.endPurge(of: purged)
    try await expectTruth("purged")
    let counts = try await ledger.counts()
    #expect(counts.announced == 3 && counts.downloads == 1 && counts.downloadSetbacks == [.notFound: 1])
    // Received photos do not count as prepared.
    #expect(counts.preparedPhotos == 0 && counts.preparedBytes == 0)
  }

  @Test func purgedConversationReceivesNothing() async throws {
    _ = try await receive(new("a"), fetch: .always)
    let purged = try #require(try await ledger.beginPurge(of: ConversationID(unchecked: "family"), at: now))
    #expect(try await receive(new("b"), fetch: .always) == .purged)
    #expect(try await ledger.beginDownloads(limit: 9, perHost: 9, at: now).isEmpty)
    _ = try await ledger.endPurge(of: purged)
    #expect(try LedgerView(in: state).photos(called: "a").isEmpty)
    #expect(try await receive(new("b"), fetch: .always) == .accepted([id("b")], .wanted))
  }

  @Test func firstPhotoIsAlwaysHidden() async throws {
    let family = ConversationID(unchecked: "family")
    try await ledger.setPreferences(fetch: nil, autoReveal: true, of: family, at: now)
    _ = try await receive(new("a"))
    #expect(try story("a").isHidden)
    #expect(try await ledger.reveal(id("a"), at: now) == .granted)
    #expect(try await ledger.reveal(id("a"), at: now) == .already)
    _ = try await receive(new("b"))
    #expect(try !story("a").isHidden && !story("b").isHidden)
  }

  @Test func laterPhotosFollowThePreferenceAtArrival() async throws {
    let family = ConversationID(unchecked: "family")
    _ = try await receive(new("a"))
    _ = try await ledger.reveal(id("a"), at: now)
    _ = try await receive(new("b"))
    try await ledger.setPreferences(fetch: nil, autoReveal: true, of: family, at: now)
    _ = try await receive(new("c"))
    try await ledger.setPreferences(fetch: nil, autoReveal: false, of: family, at: now)
    _ = try await receive(new("d"))
    _ = try await receive(new("e", in: "others"))
    #expect(try ["a", "b", "c", "d", "e"].map { try story($0).isHidden } == [false, true, false, true, true])
  }

  @Test func keysAreInTheLedgerAndInNoDescription() async throws {
    _ = try await receive(new("a"))
    let photo = RemotePhoto(url: "https://example.org", secret: "aa55", salt: "aa55", nonce: "aa55")
    var dumped = ""
    dump(photo, to: &dumped)
    #expect(!"\(photo) \(String(reflecting: photo)) \(dumped)".contains("aa55"))
  }
}
