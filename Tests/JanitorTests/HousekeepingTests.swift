import Digests
import DurableFiles
import Foundation
import GRDB
import Glibc
import Messages
import Settings
import Spooling
import TestSupport
import Testing

@testable import Janitor
@testable import Ledgers

@Suite struct HousekeepingTests {
  /// The present of files that the tests make, and later times.
  private func later(_ hours: Double) -> Timestamp { Timestamp.now().advanced(seconds: hours * 3600) }

  @Test func abandonedEntriesInTmpGoAfter36HoursAndNotBefore() async throws {
    let spool = try SpoolUnderJanitor()
    _ = try spool.spool.tmp.make("left")
    #expect(try await spool.janitor(at: later(35.98), sinceBoot: 1).pass().removed.tmp == 0)
    #expect(try spool.spool.tmp.entry("left") != nil)
    // The computer was on all the time.
    #expect(try await spool.janitor(at: later(36.02), sinceBoot: 1 + 0.04 * 3600).pass().removed.tmp == 1)
    #expect(try spool.spool.tmp.entry("left") == nil)
  }

  @Test("Of too many refused mails the oldest go, and requests stay") func refusedMails() async throws {
    let spool = try SpoolUnderJanitor()
    for name in ["a", "b", "c", "d", "request"] {
      try spool.spool.failed.directory(creating: name).write([1], as: name == "request" ? "entry" : "mail")
    }
    // Names in another order than the ages.
    try spool.spool.failed.directory("a").write([1], as: "error")
    let clock = JanitorClock(now: later(1), sinceBoot: 3600, boot: "boot")
    var housekeeping = SpoolHousekeeping(
      spool: spool.spool, ledger: spool.ledger, settings: .init(), clock: clock, isRehearsal: false)
    housekeeping.mostMails = 2
    var (notes, report) = ([String: String](), JanitorReport())
    try await housekeeping.keep(&notes, &report)
    #expect(report.removed.failed == 2)
    #expect(try spool.spool.failed.names() == ["a", "d", "request"])
  }

  @Test func entriesHeldOpenInTmpStayAtAnyAge() async throws {
    let spool = try SpoolUnderJanitor()
    _ = try spool.spool.tmp.make("held")
    let held = try spool.spool.tmp.directory("held")
    #expect(try held.tryLock())
    #expect(try await spool.janitor(at: later(10_000)).pass().removed.tmp == 0)
    #expect(try spool.spool.tmp.entry("held") != nil)
    _ = held
  }

  @Test func arrivalCounterStaysInTmp() async throws {
    let spool = try SpoolUnderJanitor()
    _ = try FileLock(".order", in: spool.spool.tmp)
    _ = try await spool.janitor(at: later(10_000)).pass()
    #expect(try spool.spool.tmp.entry(".order") != nil)
  }

  @Test func strayEntriesInTmpAndDraftGo() async throws {
    let spool = try SpoolUnderJanitor()
    _ = try spool.spool.tmp.make(".hidden")
    _ = try spool.spool.tmp.make("plain")
    let odd: [CChar] = [CChar(bitPattern: 0xff), CChar(bitPattern: 0xfe), 0]
    let place = Array(spool.spool.tmp.path.utf8CString.dropLast())
    #expect(rename(spool.spool.tmp.path(of: "plain"), place + [47] + odd) == 0)
    try spool.spool.draft.write([1], as: "plain")
    _ = try spool.spool.draft.make("no request")
    let early = try await spool.janitor(at: later(20)).pass()
    #expect(early.removed.tmp == 0 && early.removed.drafts == 0 && early.warnings == [])
    let report = try await spool.janitor(at: later(37), sinceBoot: 1000 + 17 * 3600).pass()
    #expect(report.removed.tmp == 2 && report.removed.drafts == 2 && report.warnings == [])
    #expect(try spool.spool.tmp.names() == [".order"] && spool.spool.draft.names() == [])
  }

  @Test func clockJumpAtBootIsBelievedAfterAnHourOfUptime() async throws {
    let spool = try SpoolUnderJanitor()
    _ = try spool.spool.tmp.make("new")
    func pass(_ days: Double, up: Double) async throws -> JanitorReport {
      try await SpoolJanitor(
        spool: spool.spool, ledger: spool.ledger, settings: spool.settings,
        clock: JanitorClock(now: later(days * 24), sinceBoot: up, boot: up < 0 ? "before" : "after")
      ).pass()
    }
    _ = try await pass(0, up: -1)
    for minutes in [1.0, 59] {
      let doubted = try await pass(400, up: minutes * 60)
      #expect(doubted.removed.tmp == 0 && doubted.warnings.count == 1)
    }
    #expect(try await pass(400, up: 3700).removed.tmp == 1)
  }

  @Test func aDraftGoesAfterADayAndNotBefore() async throws {
    let spool = try SpoolUnderJanitor()
    _ = try spool.spool.draft.make("left")
    try spool.spool.draft.directory("left").write(Array("family\n".utf8), as: "to")
    let entry = try #require(try spool.spool.draft.entry("left"))
    _ = try await spool.ledger.enterDraft(
      NewRequest("left", inode: entry.inode, born: entry.born, parts: [NewRequest.Part("photo.jpg")]), at: .now())
    #expect(try await spool.janitor(at: later(23.9)).pass().removed.drafts == 0)
    #expect(try await spool.ledger.count("requests WHERE state = 'draft'") == 1)
    #expect(try await spool.janitor(at: later(24.1), sinceBoot: 1000 + 0.2 * 3600).pass().removed.drafts == 1)
    #expect(try spool.spool.draft.names() == [])
    #expect(try await spool.ledger.count("requests WHERE state = 'draft'") == 0)
  }

  @Test func finishedRequestGoesWithItsReceiptAfterAWeek() async throws {
    let spool = try SpoolUnderJanitor()
    try await spool.send("a")
    try await spool.file("a")
    let day = 86_400.0
    let end = SpoolUnderJanitor.now
    #expect(try await spool.janitor(at: end.advanced(seconds: 6.9 * day)).pass().removed.receipts == 0)
    let report = try await spool.janitor(at: end.advanced(seconds: 7.1 * day), sinceBoot: 1000 + 0.2 * day).pass()
    #expect(report.removed.receipts == 1)
    #expect(try spool.spool.sent.names() == [])
    #expect(try await spool.ledger.count("requests") == 0)
    #expect(try await spool.ledger.count("attempts") == 0)
    // The photo stays in the cache.
    #expect(try spool.files("a").count == 3)
    #expect(try await spool.ledger.count("conversations") == 1)
  }

  @Test func foreignEntryUnderAForgottenRequestsNameStays() async throws {
    let spool = try SpoolUnderJanitor()
    try await spool.send("a")
    try await spool.send("b")
    try await spool.file("b", isCopy: true)
    // The receipt of a was removed, and another entry has its name.
    try spool.spool.sent.directory(creating: "a").write([1], as: "stranger")
    let report = try await spool.janitor(at: SpoolUnderJanitor.now.advanced(seconds: 8 * 86_400)).pass()
    #expect(report.removed.receipts == 2)
    #expect(try spool.spool.sent.names() == ["a"])
    #expect(try await spool.ledger.count("requests") == 0)
  }

  @Test(arguments: [false, true]) func refusedDropsGoAfterAMonth(areIncoming: Bool) async throws {
    let spool = try SpoolUnderJanitor()
    let failed = try areIncoming ? spool.spool.incoming.directory("failed") : spool.spool.failed
    _ = try failed.make("bad")
    try failed.directory("bad").write(Array("why\n".utf8), as: "error")
    #expect(try await spool.janitor(at: later(29.9 * 24)).pass().removed.failed == 0)
    let said = try await spool.janitor(at: later(30.1 * 24), sinceBoot: 1000 + 0.2 * 86_400).pass(isRehearsal: true)
    #expect(said.removed.failed == 1)
    #expect(try failed.names() == ["bad"])
    #expect(try await spool.janitor(at: later(30.1 * 24), sinceBoot: 1000 + 0.2 * 86_400).pass().removed.failed == 1)
    #expect(try failed.names() == [])
  }

  @Test func unfetchedAnnouncementIsForgottenAfterThreeMonths() async throws {
    let spool = try SpoolUnderJanitor()
    let announced = NewReceived(
      inbox: InboxID(unchecked: "me"), conversation: ConversationID(unchecked: "family"), remote: "$1",
      digest: SHA256Digest(of: [1]), photos: [RemotePhoto(url: "https://example.org/1")])
    _ = try await spool.ledger.receive([announced], fetch: .ask, at: SpoolUnderJanitor.now)
    let day = 86_400.0
    let end = SpoolUnderJanitor.now
    #expect(try await spool.janitor(at: end.advanced(seconds: 89.9 * day)).pass().removed.announced == 0)
    let then = spool.janitor(at: end.advanced(seconds: 90.1 * day), sinceBoot: 1000 + 0.2 * day)
    #expect(try await then.pass(isRehearsal: true).removed.announced == 1)
    #expect(try await then.pass().removed.announced == 1)
    #expect(try await then.pass().removed.announced == 0)
    #expect(try await spool.ledger.receive([announced], fetch: .always, at: end) == [.known])
  }

  @Test func thePhotoThatIsBeingFetchedIsNoOrphan() async throws {
    let spool = try SpoolUnderJanitor()
    let (inbox, family) = (InboxID(unchecked: "me"), ConversationID(unchecked: "family"))
    let announced = NewReceived(
      inbox: inbox, conversation: family, remote: "$1", digest: SHA256Digest(of: [1]),
      photos: [RemotePhoto(url: "https://example.org/1")])
    _ = try await spool.ledger.receive([announced], fetch: .always, at: SpoolUnderJanitor.now)
    let wanted = try await spool.ledger.beginDownloads(limit: 1, perHost: 1, at: SpoolUnderJanitor.now)
    let message = try #require(wanted.first).message
    try PhotoCache(spool.spool).keep(
      original: [1], thumbnail: [2], blurred: [3],
      at: PhotoPlace(inbox: inbox, conversation: family, message: message))
    #expect(try await spool.janitor().pass().removed.orphans == 0)
    #expect(try spool.files(message.text).count == 3)
    // It is no longer wanted.
    _ = try await spool.ledger.failDownload(of: message, error: DeliveryError(.notFound, "gone"))
    #expect(try await spool.janitor().pass().removed.orphans == 1)
    #expect(try spool.files(message.text).isEmpty)
  }

  @Test func nothingExpiresAfterAClockJump() async throws {
    let spool = try SpoolUnderJanitor()
    _ = try spool.spool.tmp.make("new")
    _ = try await spool.janitor(at: later(0), sinceBoot: 1000).pass()
    let jumped = try await spool.janitor(at: later(400 * 24), sinceBoot: 1060).pass()
    #expect(jumped.removed.tmp == 0)
    #expect(jumped.warnings.count == 1)
    // Setting the clock right is another jump, and nothing is lost.
    #expect(try await spool.janitor(at: later(0.02), sinceBoot: 1120).pass().removed.tmp == 0)
    #expect(try await spool.janitor(at: later(-400 * 24), sinceBoot: 1180).pass().removed.tmp == 0)
    #expect(try await spool.janitor(at: later(-400 * 24), sinceBoot: 1200).pass().warnings == [])
    #expect(try spool.spool.tmp.entry("new") != nil)
  }

  @Test func filesWithoutRowsGoAndRowsWithoutFilesCountNothing() async throws {
    let spool = try SpoolUnderJanitor()
    try await spool.send("kept")
    try await spool.send("lost")
    try await spool.send("waits", ends: false)
    let family = try spool.spool.photos.directory("me").directory("family")
    try family.removeTree("lost")
    try family.removeTree("waits")
    _ = try family.make("orphan")
    try family.directory("orphan").write([1, 2, 3], as: "original.jpg")
    try family.directory("kept").write([1, 2, 3], as: "stranger")
    let said = try await spool.janitor().pass(isRehearsal: true)
    #expect(said.removed.orphans == 2 && said.recounted == 1)
    #expect(try family.entry("orphan") != nil)
    let report = try await spool.janitor().pass()
    #expect(report.removed.orphans == 2 && report.recounted == 1)
    #expect(try spool.files("kept") == ["blurred.jpg", "original.jpg", "thumbnail.jpg"])
    #expect(try family.entry("orphan") == nil)
    #expect(try await spool.ledger.cacheUse()[0].photos == 2)
  }

  @Test func largeCacheIsScannedForOrphansInSeveralPasses() async throws {
    let spool = try SpoolUnderJanitor()
    for conversation in 0..<40 {
      let directory = try spool.spool.photos.directory(creating: "i\(conversation % 3)")
        .directory(creating: "c\(conversation)")
      for number in 0..<100 { _ = try directory.make("m\(conversation)-\(number)") }
    }
    var found = 0
    for _ in 0..<20 where found < 4000 { found += try await spool.janitor().pass().removed.orphans }
    #expect(found == 4000)
  }
}

extension SpoolUnderJanitor {
  /// Writes a receipt as filing does.
  ///
  /// - Parameter isCopy: the ledger knows another directory than the receipt's.
  func file(_ name: String, to conversation: String = "family", isCopy: Bool = false) async throws {
    let receipt = Receipt(
      request: name, conversation: conversation, inbox: "me", state: .sent, duplicateOf: nil, acceptedAt: "",
      finishedAt: "", messages: [])
    let directory = try spool.sent.directory(creating: name)
    try directory.write(receipt.encoded(), as: Receipt.fileName)
    let entry = try directory.entry()
    if !isCopy {
      try await ledger.write {
        try $0.execute(
          sql: "UPDATE requests SET inode = ?, born = ? WHERE request = ?",
          arguments: [Int64(bitPattern: entry.inode), entry.born, name])
      }
    }
    try await ledger.markFiled(ledger.unfiled(limit: 10).map(\.row))
  }
}

extension Ledger {
  func count(_ table: String) async throws -> Int {
    try await read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? -1 }
  }
}
