import Digests
import DurableFiles
import GRDB
import Messages
import Synchronization
import TestSupport
import Testing

@testable import Ledgers

@Suite struct ReceivingTests {
  private let scratch: TemporaryDirectory
  private let state: Directory
  private let ledger: Ledger
  private let now = Timestamp(milliseconds: 1_000_000)

  init() throws {
    scratch = try TemporaryDirectory()
    state = try Directory(path: scratch.path)
    ledger = try Ledger(in: state)
  }

  private func new(_ remote: String, in conversation: String = "family", text: String = "x", photos: Int = 1)
    -> NewReceived
  {
    NewReceived(
      inbox: InboxID(unchecked: "me"), conversation: ConversationID(unchecked: conversation), remote: remote,
      digest: SHA256Digest(of: Array(text.utf8)),
      photos: (0..<photos).map { RemotePhoto(url: "https://example.org/\($0)", secret: "aa") })
  }

  private func receive(_ message: NewReceived, fetch: FetchPolicy = .known) async throws -> Reception {
    try #require(try await ledger.receive([message], fetch: fetch, at: now).first)
  }

  private func id(_ remote: String, _ position: Int = 0) -> MessageID {
    NewReceived.message(inbox: InboxID(unchecked: "me"), remote: remote, position: position)
  }

  private func story(_ remote: String) throws -> PhotoStory {
    try #require(try LedgerView(in: state).photos(called: remote).first)
  }

  private var row: PhotoRow {
    PhotoRow(
      format: "jpeg", originalBytes: 9, originalWidth: 1, originalHeight: 1, bytes: 9, width: 1, height: 1,
      digest: "d", path: "photos/me/family/m", thumbnailBytes: 2)
  }

  private func end(_ wanted: WantedPhoto, isThere: Bool = true) async throws -> DownloadEnd {
    try await ledger.endDownload(of: wanted, as: row, file: "f", remoteUntil: now, at: now, isThere: { isThere })
  }

  // MARK: Once

  @Test func aMessageIsReceivedOnceForItsInboxAndId() async throws {
    #expect(try await receive(new("a", photos: 2)) == .accepted([id("a"), id("a", 1)], .offered))
    #expect(try await receive(new("a", photos: 2)) == .known)
    #expect(try await receive(new("a", text: "other")) == .conflict)
    #expect(try await receive(new("a", in: "elsewhere")) == .conflict)
    #expect(try LedgerView(in: state).photos(called: "a").count == 2)
  }

  @Test func aMessageThatIsCalledLikeAPhotoOfOursIsRefused() async throws {
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

  @Test func aPhotoOfOursCanBeWantedWhateverAStrangersMessageIsCalled() async throws {
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

  @Test func whatTellsThatAPhotoWasReceivedOutlivesThePhoto() async throws {
    _ = try await receive(new("a"), fetch: .always)
    let wanted = try #require(try await ledger.beginDownloads(limit: 9, perHost: 9, at: now).first)
    #expect(try await end(wanted) == .kept)
    try await ledger.expireRemotes(at: now.advanced(seconds: 1))
    for layer in [CacheLayer.lastCopies, .thumbnails] {
      let candidates = try await ledger.evictionCandidates(layer, inbox: nil, conversation: nil, need: 99)
      _ = try await ledger.evict(candidates) { _ in }
      _ = try await ledger.evict([]) { _ in }
    }
    #expect(try await ledger.forgetGonePhotos() == 1)
    #expect(try await receive(new("a"), fetch: .always) == .known)
    #expect(try story("a").state == .downloaded && !story("a").wasCached && story("a").isHidden)
    // It can be had as long as its sender keeps it.
    #expect(try await ledger.want(id("a"), at: now) == .granted)
  }

  // MARK: Who sent it

  private func sent(_ remote: String, by sender: String?) async throws -> Reception {
    let message = NewReceived(
      inbox: InboxID(unchecked: "me"), conversation: ConversationID(unchecked: "family"), remote: remote,
      sender: sender.map(SenderID.init(unchecked:)), digest: SHA256Digest(of: []),
      photos: [RemotePhoto(url: "https://example.org")])
    return try await receive(message, fetch: .always)
  }

  @Test func whoSentAPhotoIsKnownUntilItIsPurged() async throws {
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
      #expect($0.isHidden)
    }
    #expect(cached == ["@bob:example.org", nil])
    let purged = try #require(try await ledger.beginPurge(of: ConversationID(unchecked: "family"), at: now))
    _ = try await ledger.endPurge(of: purged)
    #expect(try await ledger.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM received") } == 0)
  }

  // MARK: What is fetched

  @Test func photosOfStrangersAreFetchedOnlyWhereEverythingIs() async throws {
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

  @Test func thePreferenceOfAConversationGoesBeforeTheConfiguration() async throws {
    let family = ConversationID(unchecked: "family")
    try await ledger.setPreferences(fetch: .always, autoReveal: nil, of: family, at: now)
    #expect(try await receive(new("a"), fetch: .ask) == .accepted([id("a")], .wanted))
    try await ledger.setPreferences(fetch: .ask, autoReveal: nil, of: family, at: now)
    #expect(try await receive(new("b"), fetch: .always) == .accepted([id("b")], .offered))
  }

  @Test func thePolicyOfAnInboxGoesBehindTheConversationsAndBeforeTheConfiguration() async throws {
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

  @Test func photosOfAHostThatIsBusyWaitAndThoseOfOthersGoAhead() async throws {
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
    // Nothing is due that could begin: nobody has to look again before one of them ends.
    #expect(try await begin(9).isEmpty)
    #expect(try await ledger.nextDownload(perHost: 2) == nil)
    #expect(try await ledger.failDownload(of: id("slow-1"), error: DeliveryError(.timeout, "slow")))
    #expect(try await ledger.nextDownload(perHost: 2) != nil)
    #expect(try await begin(9) == [id("slow-3")])
  }

  @Test func whatIsReceivedIsCountedByStateAndForGood() async throws {
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
    #expect(try await ledger.forgetAnnouncements(before: now.advanced(seconds: 1), limit: 9) == 1)
    try await expectTruth("forgotten")
    let purged = try #require(try await ledger.beginPurge(of: ConversationID(unchecked: "family"), at: now))
    _ = try await ledger.endPurge(of: purged)
    try await expectTruth("purged")
    let counts = try await ledger.counts()
    #expect(counts.announced == 3 && counts.downloads == 1 && counts.downloadSetbacks == [.notFound: 1])
    // What others sent is not among the photos that were prepared to be sent.
    #expect(counts.preparedPhotos == 0 && counts.preparedBytes == 0)
  }

  @Test func aConversationThatIsPurgedReceivesNothing() async throws {
    _ = try await receive(new("a"), fetch: .always)
    let purged = try #require(try await ledger.beginPurge(of: ConversationID(unchecked: "family"), at: now))
    #expect(try await receive(new("b"), fetch: .always) == .purged)
    #expect(try await ledger.beginDownloads(limit: 9, perHost: 9, at: now).isEmpty)
    _ = try await ledger.endPurge(of: purged)
    #expect(try LedgerView(in: state).photos(called: "a").isEmpty)
    #expect(try await receive(new("b"), fetch: .always) == .accepted([id("b")], .wanted))
  }

  // MARK: Steps

  @Test func aPhotoIsThereOnceItsDownloadEnded() async throws {
    _ = try await receive(new("a"), fetch: .always)
    let wanted = try #require(try await ledger.beginDownloads(limit: 9, perHost: 9, at: now).first)
    #expect(wanted.attempt == 1 && wanted.photo.secret == "aa")
    #expect(try await ledger.beginDownloads(limit: 9, perHost: 9, at: now).isEmpty)
    #expect(try !story("a").wasCached)
    #expect(try await end(wanted) == .kept)
    #expect(try story("a").state == .downloaded && story("a").wasCached)
    #expect(try await end(wanted) == .unknown)
    #expect(try await ledger.cacheUse().first?.bytes == 11)
  }

  @Test func aPhotoWhoseFilesWereTakenAgainIsNotDownloaded() async throws {
    _ = try await receive(new("a"), fetch: .always)
    let wanted = try #require(try await ledger.beginDownloads(limit: 9, perHost: 9, at: now).first)
    #expect(try await end(wanted, isThere: false) == .evicted)
    #expect(try story("a").state == .downloading && !story("a").wasCached)
    #expect(try await end(wanted) == .kept)
  }

  @Test func aFailedAttemptIsMadeAgainAtItsTime() async throws {
    _ = try await receive(new("a"), fetch: .always)
    let wanted = try #require(try await ledger.beginDownloads(limit: 9, perHost: 9, at: now).first)
    let later = now.advanced(seconds: 5)
    let error = DeliveryError(.notFound, "not there")
    #expect(try await ledger.postponeDownload(of: wanted.message, error: error, until: later))
    #expect(try await ledger.nextDownload(perHost: 9) == later)
    #expect(try await ledger.beginDownloads(limit: 9, perHost: 9, at: now).isEmpty)
    let again = try #require(try await ledger.beginDownloads(limit: 9, perHost: 9, at: later).first)
    #expect(again.attempt == 2)
    #expect(try await ledger.failDownload(of: wanted.message, error: error))
    #expect(try story("a").state == .failed && story("a").cause == "not_found")
    #expect(try await ledger.nextDownload(perHost: 9) == nil)
    // Whoever wants it all the same gets another try.
    #expect(try await ledger.want(wanted.message, at: later) == .granted)
    #expect(try #require(try await ledger.beginDownloads(limit: 9, perHost: 9, at: later).first).attempt == 1)
  }

  @Test func aFlushTriesWhatWaits() async throws {
    _ = try await receive(new("a"), fetch: .always)
    let wanted = try #require(try await ledger.beginDownloads(limit: 9, perHost: 9, at: now).first)
    let error = DeliveryError(.unreachable, "nobody there")
    _ = try await ledger.postponeDownload(of: wanted.message, error: error, until: now.advanced(seconds: 500))
    #expect(try await ledger.beginDownloads(limit: 9, perHost: 9, at: now).isEmpty)
    _ = try await ledger.flush(at: now)
    #expect(try await ledger.beginDownloads(limit: 9, perHost: 9, at: now).count == 1)
  }

  @Test func whatADeadProcessHadInHandIsWantedAgain() async throws {
    _ = try await receive(new("a"), fetch: .always)
    _ = try await ledger.beginDownloads(limit: 9, perHost: 9, at: now)
    try await ledger.recoverReceived()
    #expect(try await ledger.beginDownloads(limit: 9, perHost: 9, at: now).count == 1)
  }

  @Test func whatNobodyFetchedIsForgottenForItsAgeAndStillKnownWhenItIsRepeated() async throws {
    _ = try await receive(new("old"))
    _ = try await receive(new("asked"))
    _ = try await receive(new("waits"), fetch: .always)
    let later = now.advanced(seconds: 100)
    // It could not be had when somebody last wanted it.
    _ = try await ledger.want(id("asked"), at: later)
    _ = try await ledger.beginDownload(of: id("asked"), at: later)
    _ = try await ledger.failDownload(of: id("asked"), error: DeliveryError(.notFound, "gone"))
    try await ledger.write { try $0.execute(sql: "UPDATE received SET sender = '@bob:example.org'") }
    #expect(try await ledger.forgettableAnnouncements(before: now) == 0)
    #expect(try await ledger.forgettableAnnouncements(before: later) == 1)
    #expect(try await ledger.forgetAnnouncements(before: later, limit: 9) == 1)
    #expect(try await ledger.forgetAnnouncements(before: later, limit: 9) == 0)
    #expect(try story("old").state == .forgotten && story("asked").state == .failed && story("waits").state == .wanted)
    #expect(try await ledger.want(id("old"), at: later) == .gone)
    let keys = try await ledger.read {
      try String.fetchOne(
        $0, sql: "SELECT attachment || host || coalesce(sender, '') FROM received WHERE remote = 'old'")
    }
    #expect(keys == "{}")
    var listed = [String]()
    try LedgerView(in: state).forEachReceived(inbox: nil, conversation: nil) { listed.append($0.remote) }
    #expect(listed == ["asked", "waits"])
    // Whoever says it once more is known to repeat it; other contents are refused as ever.
    #expect(try await receive(new("old"), fetch: .always) == .known)
    #expect(try await receive(new("old", text: "other"), fetch: .always) == .conflict)
    #expect(try story("old").state == .forgotten)
  }

  @Test func whatNobodyKnowsCannotBeWanted() async throws {
    #expect(try await ledger.want(id("nothing"), at: now) == .unknown)
    #expect(try await ledger.reveal(id("nothing"), at: now) == .unknown)
  }

  @Test func everyStateKnowsWhatCanHappenToIt() {
    let events: [ReceivedState.Event] = [.want, .begin, .postpone, .finish, .fail, .forget]
    let table: [ReceivedState: [ReceivedState?]] = [
      .offered: [.wanted, nil, nil, nil, nil, .forgotten], .wanted: [.wanted, .downloading, nil, nil, nil, nil],
      .downloading: [.downloading, nil, .wanted, .downloaded, .failed, nil],
      .downloaded: [.wanted, nil, nil, nil, nil, nil], .failed: [.wanted, nil, nil, nil, nil, .forgotten],
      .forgotten: [nil, nil, nil, nil, nil, nil],
    ]
    for state in ReceivedState.allCases { #expect(events.map { state.after($0) } == table[state]) }
  }

  // MARK: Hidden and shown

  @Test func theFirstPhotoIsHiddenWhateverIsPreferred() async throws {
    let family = ConversationID(unchecked: "family")
    try await ledger.setPreferences(fetch: nil, autoReveal: true, of: family, at: now)
    _ = try await receive(new("a"))
    #expect(try story("a").isHidden)
    #expect(try await ledger.reveal(id("a"), at: now) == .granted)
    #expect(try await ledger.reveal(id("a"), at: now) == .already)
    _ = try await receive(new("b"))
    #expect(try !story("a").isHidden && !story("b").isHidden)
  }

  @Test func laterPhotosAreAsThePreferenceWasWhenTheyCame() async throws {
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

  // MARK: A ledger that was made anew

  @Test func aRestoredPhotoIsHiddenAndKnownAndHasItsKeysAgainOnceItIsRepeated() async throws {
    let reception = FoundPhoto.Reception(
      remote: "a", position: 0, sender: SenderID(unchecked: "@bob:example.org"),
      digest: SHA256Digest(of: Array("x".utf8)).hex, receivedAt: now)
    try await ledger.restore(
      [
        FoundPhoto(
          message: id("a"), inbox: InboxID(unchecked: "me"), conversation: ConversationID(unchecked: "family"),
          path: "photos/me/family/m", bytes: 9, digest: "d", thumbnailBytes: 2, width: 0, height: 0, url: nil,
          createdAt: now, reception: reception)
      ], at: now)
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

  private func found(_ message: MessageID, _ reception: FoundPhoto.Reception) -> FoundPhoto {
    FoundPhoto(
      message: message, inbox: InboxID(unchecked: "me"), conversation: ConversationID(unchecked: "family"),
      path: "photos/me/family/m", bytes: 9, digest: "d", thumbnailBytes: 2, width: 0, height: 0, url: nil,
      createdAt: now, reception: reception)
  }

  @Test func aRestoredPhotoWhoseNoteNobodyCanReadIsWholeOnceItIsRepeated() async throws {
    let unreadable = FoundPhoto.Reception(
      remote: id("a").text, position: 0, sender: nil, digest: "", receivedAt: now)
    try await ledger.restore([found(id("a"), unreadable)], at: now)
    #expect(try await receive(new("a", in: "elsewhere")) == .conflict)
    #expect(try await receive(new("a")) == .known)
    #expect(try await receive(new("a", text: "other")) == .conflict)
    #expect(try story("a").state == .downloaded && story("a").isHidden)
    #expect(try await ledger.want(id("a"), at: now) == .granted)
    let wanted = try #require(try await ledger.beginDownload(of: id("a"), at: now))
    #expect(wanted.photo.secret == "aa" && wanted.remote == "a" && wanted.attachmentDigest == new("a").digest.hex)
  }

  @Test func aPhotoOfAMessageThatWasNotInTheCacheIsReceivedOnceItIsRepeated() async throws {
    let whole = FoundPhoto.Reception(
      remote: "a", position: 1, sender: nil, digest: SHA256Digest(of: Array("x".utf8)).hex, receivedAt: now)
    let unreadable = FoundPhoto.Reception(
      remote: id("a", 2).text, position: 0, sender: nil, digest: "", receivedAt: now)
    try await ledger.restore([found(id("a", 1), whole), found(id("a", 2), unreadable)], at: now)
    #expect(try await receive(new("a", photos: 3), fetch: .always) == .accepted([id("a")], .wanted))
    #expect(try await receive(new("a", photos: 3), fetch: .always) == .known)
    #expect(try LedgerView(in: state).photos(called: "a").count == 3)
    #expect(try await ledger.beginDownloads(limit: 9, perHost: 9, at: now).map(\.message) == [id("a")])
    for position in 1...2 { #expect(try await ledger.want(id("a", position), at: now) == .granted) }
    let others = try await ledger.beginDownloads(limit: 9, perHost: 9, at: now)
    #expect(others.map(\.position) == [1, 2] && others.allSatisfy { $0.photo.url.hasSuffix("\($0.position)") })
  }

  // MARK: What looking costs

  @Test func whoLooksAtOnePhotoLooksAtNoOther() async throws {
    try await ledger.write { database in
      try database.execute(
        sql: """
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
            INSERT INTO conversations (id, conversation) SELECT i, 'c' || i FROM n;
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
            INSERT INTO received (message, inbox, conversation_id, remote, position, digest, attachment, state, received_at)
              SELECT 'm' || i, 'me', i % 100 + 1, 'r' || i, 0, '', '{"url":"https://example.org"}', 'downloaded', i FROM n;
          INSERT INTO photos (message, inbox, conversation_id, file, format, original_bytes, original_width,
              original_height, bytes, width, height, digest, path, thumbnail_bytes, created_at)
            SELECT message, inbox, conversation_id, '', '', 1, 1, 1, 1, 1, 1, '', '', 1, 1 FROM received;
          """)
    }
    let asked = Mutex<[String]>([])
    let note: @Sendable (Database.TraceEvent) -> Void = { event in
      if case .statement(let statement) = event { asked.withLock { $0.append(statement.expandedSQL) } }
    }
    let view = try LedgerView(in: state)
    try view.read { $0.trace(note) }
    try await ledger.write { $0.trace(note) }
    #expect(try view.photos(called: "r77").map(\.message.text) == ["m77"])
    #expect(try view.photos(called: "m78").map(\.state) == [.downloaded])
    #expect(try view.photos(called: "nobody").isEmpty)
    _ = try view.preferences(of: "c7")
    try view.forEachReceived(inbox: nil, conversation: "c7") { _ in }
    try view.forEachPhoto(inbox: nil, conversation: "c7") { _ in }
    _ = try await receive(new("unheard", in: "c7", photos: 3))
    let message = MessageID(unchecked: "m77")
    #expect(try await ledger.reveal(message, at: now) == .granted)
    #expect(try await ledger.viewed(message, at: now))
    #expect(try await ledger.want(message, at: now) == .granted)
    let wanted = try #require(try await ledger.beginDownload(of: message, at: now))
    #expect(try await end(wanted) == .kept)
    let questions = asked.withLock(\.self).filter { question in
      ["SELECT", "UPDATE", "INSERT", "DELETE"].contains { question.hasPrefix($0) }
    }
    #expect(questions.count > 20)
    for question in questions {
      let plan = try view.read { database in
        try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN \(question)").map { $0["detail"] as String }
      }
      for table in ["r", "p", "c", "received", "photos", "conversations"] {
        #expect(!plan.contains { $0.hasPrefix("SCAN \(table)") && !$0.hasPrefix("SCAN cache") }, "\(plan): \(question)")
      }
    }
  }

  @Test func keysAreInTheLedgerAndInNoDescription() async throws {
    _ = try await receive(new("a"))
    let photo = RemotePhoto(url: "https://example.org", secret: "aa55", salt: "aa55", nonce: "aa55")
    var dumped = ""
    dump(photo, to: &dumped)
    #expect(!"\(photo) \(String(reflecting: photo)) \(dumped)".contains("aa55"))
  }
}
