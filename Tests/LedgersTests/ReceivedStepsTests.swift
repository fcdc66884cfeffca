import Digests
import GRDB
import Messages
import Synchronization
import TestSupport
import Testing

@testable import Ledgers

@Suite struct ReceivedStepsTests: LedgerSuite {
  let fresh: FreshLedger

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

  @Test func viewTellsWhetherThePhotoWasFetchedAgain() async throws {
    _ = try await receive(new("a"), fetch: .always)
    let wanted = try #require(try await ledger.beginDownloads(limit: 9, perHost: 9, at: now).first)
    #expect(try await end(wanted) == .kept)
    // It arrived at `now`. A view before that means that it arrived again; the first view is of the first arrival.
    for time in [now.advanced(seconds: -10), now, now.advanced(seconds: 10)] {
      #expect(try await ledger.viewed(wanted.message, at: time))
    }
    #expect(try await !ledger.viewed(id("nobody"), at: now))
    let counts = try await ledger.counts()
    #expect(counts.viewsOfCached == 2 && counts.viewsOfFetched == 1)
  }

  @Test func photoWithRestoredFilesIsNotDownloaded() async throws {
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
    // A request gets another attempt.
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

  @Test func photosOfADeadProcessAreWantedAgain() async throws {
    _ = try await receive(new("a"), fetch: .always)
    _ = try await ledger.beginDownloads(limit: 9, perHost: 9, at: now)
    try await ledger.recoverReceived()
    #expect(try await ledger.beginDownloads(limit: 9, perHost: 9, at: now).count == 1)
  }

  @Test func unfetchedPhotosExpireAndTheirRepetitionIsRecognised() async throws {
    _ = try await receive(new("old"))
    _ = try await receive(new("asked"))
    _ = try await receive(new("waits"), fetch: .always)
    let later = now.advanced(seconds: 100)
    // It could not be fetched at the last request.
    _ = try await ledger.want(id("asked"), at: later)
    _ = try await ledger.beginDownload(of: id("asked"), at: later)
    _ = try await ledger.failDownload(of: id("asked"), error: DeliveryError(.notFound, "gone"))
    try await ledger.write { try $0.execute(sql: "UPDATE received SET sender = '@bob:example.org'") }
    #expect(try await ledger.forgettableAnnouncements(before: now) == 0)
    #expect(try await ledger.forgettableAnnouncements(before: later) == 1)
    #expect(try await ledger.forgetAnnouncements(before: later) == 1)
    #expect(try await ledger.forgetAnnouncements(before: later) == 0)
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
    // Another announcement is recognised as a repetition; other contents are refused.
    #expect(try await receive(new("old"), fetch: .always) == .known)
    #expect(try await receive(new("old", text: "other"), fetch: .always) == .conflict)
    #expect(try story("old").state == .forgotten)
  }

  @Test func unknownPhotosCannotBeWanted() async throws {
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

  @Test func viewOfOnePhotoMarksNoOther() async throws {
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
    #expect(try await ledger.hide(message) { _, _ in true } == .granted)
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
}
