import Digests
import DurableFiles
import GRDB
import Messages
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
    #expect(try await ledger.forgettableAnnouncements(before: now) == 0)
    #expect(try await ledger.forgettableAnnouncements(before: later) == 1)
    #expect(try await ledger.forgetAnnouncements(before: later, limit: 9) == 1)
    #expect(try await ledger.forgetAnnouncements(before: later, limit: 9) == 0)
    #expect(try story("old").state == .forgotten && story("asked").state == .failed && story("waits").state == .wanted)
    #expect(try await ledger.want(id("old"), at: later) == .gone)
    let keys = try await ledger.read {
      try String.fetchOne($0, sql: "SELECT attachment || host FROM received WHERE remote = 'old'")
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

  @Test func keysAreInTheLedgerAndInNoDescription() async throws {
    _ = try await receive(new("a"))
    let photo = RemotePhoto(url: "https://example.org", secret: "aa55", salt: "aa55", nonce: "aa55")
    var dumped = ""
    dump(photo, to: &dumped)
    #expect(!"\(photo) \(String(reflecting: photo)) \(dumped)".contains("aa55"))
  }
}
