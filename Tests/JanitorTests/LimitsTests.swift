import Foundation
import Glibc
import Messages
import Settings
import Testing

@testable import Janitor
@testable import Ledgers

@Suite struct LimitsTests {
  private let whole = ["blurred.jpg", "original.jpg", "thumbnail.jpg"]
  private let thumbnails = ["blurred.jpg", "thumbnail.jpg"]

  @Test func nothingGoesAndNothingIsSaidWithinTheLimits() async throws {
    let spool = try SpoolUnderJanitor()
    try await spool.send("a")
    let report = try await spool.janitor().pass()
    #expect(!report.hasWork && report.warnings.isEmpty)
    #expect(try spool.files("a") == whole)
    #expect(try await spool.isExact())
  }

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

  @Test func whatCanBeFetchedAgainGoesBeforeLastCopiesAndThumbnailsGoLast() async throws {
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
    // Nothing is left of the last copy, and its row goes with the next pass; what can be fetched again keeps its own.
    #expect(try await spool.janitor().pass().rows == 1)
    #expect(try await spool.ledger.hasPhoto(of: MessageID(unchecked: "again")))
    #expect(try await spool.isExact())
  }

  @Test func whatAnUnfinishedRequestNeedsStays() async throws {
    var spool = try SpoolUnderJanitor()
    try await spool.send("waits", ends: false)
    try await spool.send("sent", to: "others")
    spool.settings.cache.total = 0
    _ = try await spool.janitor().pass()
    #expect(try spool.files("waits") == whole && spool.files("sent", to: "others") == [])
    #expect(try await spool.janitor().clear(inbox: nil, conversation: nil).photos == 0)
  }

  @Test func aLimitThatIsPassedIsSpokenOfOnceUntilItWasKept() async throws {
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

  @Test func aRehearsalSaysTheSameAndChangesNothing() async throws {
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

  @Test func clearTakesWhatCanBeFetchedAgainOfOneConversation() async throws {
    let spool = try SpoolUnderJanitor()
    try await spool.send("a")
    try await spool.send("b", to: "others")
    try await spool.send("last", to: "others", remoteUntil: SpoolUnderJanitor.now)
    _ = try await spool.janitor().pass()
    let count = try await spool.janitor().clear(inbox: nil, conversation: ConversationID(unchecked: "others"))
    #expect(count.photos == 1)
    #expect(try spool.files("a") == whole && spool.files("b", to: "others") == thumbnails)
    #expect(try spool.files("last", to: "others") == whole)
  }

  @Test func anEvictionThatWasCutOffIsEndedByTheNextPass() async throws {
    let spool = try SpoolUnderJanitor()
    try await spool.send("a")
    try await spool.send("b")
    let candidates = try await spool.ledger.evictionCandidates(.fetchable, inbox: nil, need: 1)
    _ = try await spool.ledger.evict(candidates) { _ in }
    #expect(try spool.files("a") == whole)
    #expect(try await spool.janitor().pass().evicted.photos == 1)
    #expect(try spool.files("a") == thumbnails && spool.files("b") == whole)
    #expect(try await spool.isExact())
  }

  /// Has a file say that it was read so many seconds after the time of the tests.
  private func read(_ name: String, _ file: String = "original.jpg", after seconds: Int, in spool: SpoolUnderJanitor) {
    let path = spool.spool.photos.path(of: "me/family/\(name)/\(file)")
    let times = [
      timespec(tv_sec: Int(SpoolUnderJanitor.now.milliseconds / 1000) + seconds, tv_nsec: 0),
      // UTIME_OMIT.
      timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2),
    ]
    #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
  }

  private var later: Timestamp { SpoolUnderJanitor.now.advanced(seconds: 1000) }

  @Test func aPhotoThatAnotherProgramHasReadSinceGoesAfterTheOthers() async throws {
    var spool = try SpoolUnderJanitor()
    for name in ["a", "b", "c"] { try await spool.send(name) }
    read("a", after: 500, in: spool)
    spool.settings.cache.total = 3 * 120 - 1
    #expect(try await spool.janitor(at: later).pass(isRehearsal: true).evicted.photos == 1)
    #expect(try await spool.janitor(at: later).pass().evicted.photos == 1)
    #expect(try spool.files("a") == whole && spool.files("b") == thumbnails && spool.files("c") == whole)
    // That reading gives one more turn, and not another.
    spool.settings.cache.total = 3 * 120 - 250
    #expect(try await spool.janitor(at: later).pass().evicted.photos == 2)
    #expect(try spool.files("a") == thumbnails && spool.files("c") == thumbnails)
    #expect(try await spool.isExact())
  }

  @Test func whatWasReadTogetherGoesInTheOrderInWhichItWasRead() async throws {
    var spool = try SpoolUnderJanitor()
    for (name, bytes) in [("a", 100), ("b", 100), ("c", 300)] { try await spool.send(name, bytes: bytes) }
    read("a", after: 600, in: spool)
    read("b", after: 400, in: spool)
    read("c", after: 500, in: spool)
    spool.settings.cache.total = 560 - 250
    #expect(try await spool.janitor(at: later).pass().evicted.photos == 2)
    #expect(try spool.files("a") == whole && spool.files("b") == thumbnails && spool.files("c") == thumbnails)
  }

  @Test func timesThatSayNothingGiveNoTurn() async throws {
    var spool = try SpoolUnderJanitor()
    for name in ["a", "b", "c", "d"] { try await spool.send(name) }
    // It was read as it was made; at a time to come; and its thumbnail only.
    read("a", after: 30, in: spool)
    read("b", after: 5000, in: spool)
    read("c", "thumbnail.jpg", after: 500, in: spool)
    spool.settings.cache.total = 4 * 120 - 250
    #expect(try await spool.janitor(at: later).pass().evicted.photos == 3)
    #expect(try spool.files("d") == whole && spool.files("c") == thumbnails)
    // Thumbnails have times of their own.
    spool.settings.cache.total = 79
    read("a", "blurred.jpg", after: 500, in: spool)
    #expect(try await spool.janitor(at: later).pass().evicted.thumbnails == 1)
    #expect(try spool.files("a") == thumbnails && spool.files("b") == [] && spool.files("c") == thumbnails)
    #expect(try await spool.isExact())
  }

  @Test func theLimitIsKeptThoughEverythingWasJustRead() async throws {
    var spool = try SpoolUnderJanitor()
    for name in ["a", "b", "c"] {
      try await spool.send(name)
      read(name, after: 500, in: spool)
    }
    spool.settings.cache.total = 60
    #expect(try await spool.janitor(at: later).pass().evicted.photos == 3)
    #expect(try await spool.isExact())
  }
}
