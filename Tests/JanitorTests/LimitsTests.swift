import DurableFiles
import Messages
import Settings
import Testing

@testable import Janitor
@testable import Ledgers

@Suite struct LimitsTests {
  private let whole = ["blurred.jpg", "original.jpg", "thumbnail.jpg"]
  private let thumbnails = ["blurred.jpg", "thumbnail.jpg"]

  @Test func theLeastRecentlyViewedOfAnInboxGoes() async throws {
    var spool = try SpoolUnderJanitor()
    for name in ["a", "b", "c"] { try await spool.send(name) }
    try await spool.send("y", from: "you")
    try await spool.ledger.viewed(MessageID(unchecked: "a"), at: SpoolUnderJanitor.now)
    spool.settings.cache.inbox = 3 * 120 - 1
    let report = try await spool.janitor().pass()
    #expect(report.evicted.photos == 1 && report.evicted.bytes == 100)
    #expect(try spool.files("a") == whole && spool.files("b") == thumbnails && spool.files("c") == whole)
    #expect(try spool.files("y", from: "you") == whole)
    #expect(try await spool.isExact())
  }

  @Test func theTotalIsKeptAcrossInboxes() async throws {
    var spool = try SpoolUnderJanitor()
    try await spool.send("a", from: "one")
    try await spool.send("b", from: "two")
    try await spool.send("c", from: "one")
    spool.settings.cache.total = 3 * 120 - 150
    #expect(try await spool.janitor().pass().evicted.photos == 2)
    #expect(try spool.files("a", from: "one") == thumbnails && spool.files("b", from: "two") == thumbnails)
    #expect(try spool.files("c", from: "one") == whole)
  }

  @Test func fetchablePhotosGoBeforeLastCopiesAndThumbnailsGoLast() async throws {
    var spool = try SpoolUnderJanitor()
    try await spool.send("last", remoteUntil: SpoolUnderJanitor.now)
    try await spool.send("again")
    spool.settings.cache.total = 239
    _ = try await spool.janitor().pass()
    #expect(try spool.files("last") == whole && spool.files("again") == thumbnails)
    spool.settings.cache.total = 139
    _ = try await spool.janitor().pass()
    #expect(try spool.files("last") == thumbnails && spool.files("again") == thumbnails)
    spool.settings.cache.total = 20
    _ = try await spool.janitor().pass()
    #expect(try spool.files("last") == [] && spool.files("again") == thumbnails)
    // The row of a deleted last copy goes with the next run; a fetchable photo keeps its row.
    #expect(try await spool.janitor().pass().removed.rows == 1)
    #expect(try await spool.ledger.hasPhoto(of: MessageID(unchecked: "again")))
    #expect(try await spool.isExact())
  }

  @Test func photosOfUnfinishedRequestsStay() async throws {
    var spool = try SpoolUnderJanitor()
    try await spool.send("waits", ends: false)
    try await spool.send("sent", to: "others")
    spool.settings.cache.total = 0
    _ = try await spool.janitor().pass()
    #expect(try spool.files("waits") == whole && spool.files("sent", to: "others") == [])
    #expect(try await spool.clear(inbox: nil, conversation: nil).photos == 0)
  }

  @Test func exceededLimitIsReportedOnce() async throws {
    var spool = try SpoolUnderJanitor()
    try await spool.send("waits", ends: false)
    spool.settings.cache.total = 0
    spool.settings.cache.inbox = 0
    #expect(try await spool.janitor().pass().warnings.count == 2)
    #expect(try await spool.janitor().pass().warnings == [])
    spool.settings = Settings()
    #expect(try await spool.janitor().pass().warnings == [])
    spool.settings.cache.total = 0
    #expect(try await spool.janitor().pass().warnings.count == 1)
  }

  @Test func dryRunMatchesARealRunAndChangesNothing() async throws {
    var spool = try SpoolUnderJanitor()
    for number in 0..<300 { try await spool.send("p\(number)", to: "c\(number % 3)") }
    spool.settings.cache.total = 300 * 20 + 45 * 100
    let said = try await spool.janitor().pass(isRehearsal: true)
    #expect(said.evicted.photos == 255)
    #expect(try await spool.isExact())
    #expect(try await spool.ledger.cacheUse()[0].photos == 300)
    let done = try await spool.janitor().pass()
    #expect(done.evicted == said.evicted)
    #expect(try await spool.isExact())
  }

  @Test func dryRunOfAllLimitsMatchesARealRunWithoutTheLock() async throws {
    var spool = try SpoolUnderJanitor()
    for number in 0..<20 {
      try await spool.send(
        "p\(number)", from: number < 8 ? "one" : "two", bytes: 50 + number,
        remoteUntil: number % 3 == 0 ? SpoolUnderJanitor.now : SpoolUnderJanitor.now.advanced(seconds: 86_400))
    }
    // Expires immediately.
    _ = try await spool.janitor().pass()
    for (inbox, total) in [(900, 1100), (150, 1000), (100, 190), (0, 0)] {
      spool.settings.cache.inbox = inbox
      spool.settings.cache.total = total
      let lock = try FileLock(Ledger.lockName, in: spool.spool.state)
      try lock.acquire()
      let said = try await spool.janitor().pass(isRehearsal: true)
      lock.release()
      #expect(said.evicted == (try await spool.janitor().pass().evicted))
      #expect(said.evicted.bytes > 0)
    }
    #expect(try await spool.isExact())
  }

  @Test func nextPassCompletesAnInterruptedEviction() async throws {
    let spool = try SpoolUnderJanitor()
    try await spool.send("a")
    try await spool.send("b")
    let candidates = try await spool.ledger.evictionCandidates(.fetchable, inbox: nil, need: 1)
    _ = try await spool.ledger.evict(candidates) { _, _ in }
    #expect(try spool.files("a") == whole)
    #expect(try await spool.janitor().pass().evicted.photos == 1)
    #expect(try spool.files("a") == thumbnails && spool.files("b") == whole)
    #expect(try await spool.isExact())
  }
}
