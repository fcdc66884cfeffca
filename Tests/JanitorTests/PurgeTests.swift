import Digests
import Foundation
import GRDB
import Messages
import Spooling
import TestSupport
import Testing

@testable import Janitor
@testable import Ledgers

@Suite struct PurgeTests {
  private let marked = ConversationID(unchecked: "MARKER")

  /// The number of markers in the ledger's files.
  private func hits(_ spool: SpoolUnderJanitor) throws -> Int {
    try ["ledger.sqlite", "ledger.sqlite-wal"].reduce(0) { count, name in
      let data = try Data(contentsOf: URL(fileURLWithPath: spool.spool.state.path(of: name)))
      var found = 0
      var rest = data.startIndex
      while let range = data.range(of: Data("MARKER".utf8), in: rest..<data.endIndex) {
        found += 1
        rest = range.upperBound
      }
      return count + found
    }
  }

  /// Rows of all sizes in random order, 1,500 of them marked, so that SQLite often moves them between pages.
  private static func churn(_ database: Database) throws {
    var random = SystemRandomNumberGenerator()
    try database.execute(sql: "INSERT INTO conversations (id, conversation) VALUES (1, 'MARKER'), (2, 'other')")
    for number in 0..<6000 {
      let isMarked = number % 4 == 0
      let name = "\(isMarked ? "MARKER" : "other")\(UInt64.random(in: 0 ... .max, using: &random))"
      try database.execute(
        sql: """
          INSERT INTO requests (request, dropped_as, inode, born, conversation_id, inbox, idempotency_key, state, error,
            bytes, accepted_at, finished_at, filed) VALUES (?, ?, ?, 1, ?, 'me', ?, 'sent', ?, 1, 1, 1, 1)
          """,
        arguments: [
          name, name, number, isMarked ? 1 : 2, name,
          String(repeating: isMarked ? "MARKER" : "other ", count: Int.random(in: 0...90, using: &random)),
        ])
      if number % 3 == 0 {
        try database.execute(
          sql: "UPDATE requests SET error = error || error WHERE id = abs(random()) % \(number + 1)")
      }
      if number % 5 == 4 {
        try database.execute(
          sql: "DELETE FROM requests WHERE conversation_id = 2 AND id = abs(random()) % \(number + 1)")
      }
    }
  }

  private func isIntact(_ spool: SpoolUnderJanitor) async throws -> Bool {
    try await spool.ledger.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok"
  }

  @Test func purgeLeavesNoByteInRebalancedPages() async throws {
    let spool = try SpoolUnderJanitor()
    try await spool.ledger.write(Self.churn)
    let others = try await spool.ledger.read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM requests WHERE conversation_id = 2")
    }
    let count = try await PurgeRun(spool: spool.spool, ledger: spool.ledger).run([marked])
    #expect(count.requests == 1500)
    #expect(try hits(spool) == 0)
    #expect(try await spool.ledger.count("requests") == others)
    #expect(try await isIntact(spool))
    // Pages cached by this process must not bring markers back.
    try await spool.ledger.write { try $0.execute(sql: "UPDATE requests SET error = error || 'more', inbox = 'you'") }
    #expect(try hits(spool) == 0)
    // The ledger is intact for those who have it open.
    try await spool.send("a")
    #expect(try await spool.isExact())
    #expect(try await isIntact(spool))
  }

  @Test(arguments: EarlierProgram.allCases)
  func purgeLeavesNoByteInAnEarlierProgramsLedger(_ program: EarlierProgram) async throws {
    let spool = try SpoolUnderJanitor()
    let former = try Spool(creating: spool.scratch.path("former"))
    // Written by SQLite alone, which leaves remains in its pages.
    try program.makeLedger(at: former.state.path(of: Ledger.fileName), Self.churn)
    let ledger = try Ledger(in: former.state)
    _ = try await PurgeRun(spool: former, ledger: ledger).run([marked])
    for name in ["ledger.sqlite", "ledger.sqlite-wal"] {
      let data = try Data(contentsOf: URL(fileURLWithPath: former.state.path(of: name)))
      #expect(data.range(of: Data("MARKER".utf8)) == nil, "\(name)")
    }
    #expect(try await ledger.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
    try ledger.close()
  }

  @Test func purgeDeletesLedgersKeptByRebuild() async throws {
    let spool = try SpoolUnderJanitor()
    try await spool.send("a", to: "MARKER")
    for name in ["ledger-1763700000000", "rebuild"] {
      try spool.spool.state.directory(creating: name).write(Array("MARKER".utf8), as: "ledger.sqlite")
    }
    _ = try await PurgeRun(spool: spool.spool, ledger: spool.ledger).run([marked])
    let names = try spool.spool.state.names()
    #expect(!names.contains { $0 == "rebuild" || $0.hasPrefix("ledger-") })
    #expect(names.contains("ledger.sqlite"))
  }

  @Test func committedTombstoneStopsAllWork() async throws {
    let spool = try SpoolUnderJanitor()
    try await spool.send("a", to: "MARKER", ends: false)
    let message = try #require(try await spool.ledger.head(of: 1, limit: 1).first)
    let purge = PurgeRun(spool: spool.spool, ledger: spool.ledger)
    let purged = try #require(try await purge.begin(marked))
    #expect(purged.messages == [message.message])
    #expect(try await spool.ledger.beginPublishing(message, at: SpoolUnderJanitor.now) == nil)
    #expect(try await spool.ledger.dueConversations(at: SpoolUnderJanitor.now, limit: 9) == [])
    _ = try await purge.finish(marked, purged)
    // Late results change nothing.
    let late = try await spool.ledger.markSent(
      message, Published(at: SpoolUnderJanitor.now, remote: "r", attachment: SpoolUnderJanitor.attachment),
      at: SpoolUnderJanitor.now)
    #expect(late == nil)
    #expect(try await !spool.ledger.beginPreparing(message))
    for table in ["requests", "messages", "photos", "attempts", "conversations"] {
      #expect(try await spool.ledger.count(table) == 0, "\(table)")
    }
  }

  @Test func purgeLeavesAbandonedUploadsToDeleteAndKeepsPublishedOnes() async throws {
    let spool = try SpoolUnderJanitor()
    try await spool.send("sent", to: "MARKER")
    try await spool.send("waits", to: "MARKER", ends: false)
    _ = try await PurgeRun(spool: spool.spool, ledger: spool.ledger).run([marked])
    let uploads = try await spool.ledger.read {
      try Row.fetchAll($0, sql: "SELECT message, object, state FROM uploads").map { "\($0[0]!)|\($0[1]!)|\($0[2]!)" }
    }
    #expect(uploads.map { $0.contains("o-waits") && $0.contains("abandoned") } == [true])
    #expect(try await spool.ledger.claimAbandonedUploads(limit: 9).map(\.object) == ["o-waits"])
  }

  /// Publishes as the `local` network, into a new or an existing file.
  private func publish(
    _ spool: SpoolUnderJanitor, _ message: String, object: [UInt8], isSealed: Bool = true
  ) throws -> String {
    let digest = SHA256Digest(of: object).hex
    if try spool.spool.objects.entry(digest) == nil { try spool.spool.objects.write(object, as: digest) }
    let secret = isSealed ? #""secret":"s","# : ""
    let line = """
      {"message":"\(message)","request":"r","conversation":"MARKER","inbox":"me","kind":"photo","attachment":{"url":"file:///x",\
      "contentDigest":"\(digest)",\(secret)"scheme":"https://","contentLength":1,"filename":"photo.jpg","mimeType":"image/jpeg",\
      "width":1,"height":1},"publishedAt":"2026-01-01T00:00:00Z"}

      """
    try spool.spool.published.file(appendingTo: "MARKER.jsonl").write(Array(line.utf8))
    return digest
  }

  private func purge(_ spool: SpoolUnderJanitor) -> PurgeRun {
    PurgeRun(
      spool: spool.spool, ledger: spool.ledger,
      objects: { [objects = spool.spool.objects.path] in try ObjectDirectories(["store": objects]) })
  }

  private func upload(_ spool: SpoolUnderJanitor, _ message: String, _ object: String, _ state: String) async throws {
    try await spool.ledger.write {
      try $0.execute(
        sql: "INSERT INTO uploads (message, store, object, state, started_at) VALUES (?, 'store', ?, ?, 1)",
        arguments: [message, object, state])
    }
  }

  @Test func purgeDeletesObjectsNamedInThePublishedFile() async throws {
    let spool = try SpoolUnderJanitor()
    let known = try publish(spool, "known", object: [1])
    _ = try publish(spool, "forgotten", object: [2])
    let other = SHA256Digest(of: [3]).hex
    try spool.spool.objects.write([3], as: other)
    try await upload(spool, "known", known, "published")
    // Foreign lines are ignored.
    try spool.spool.published.file(appendingTo: "MARKER.jsonl").write(
      Array(#"{"message":"x","attachment":{"contentDigest":"../../state/ledger.sqlite"}}"#.utf8) + [10])
    _ = try await purge(spool).run([marked])
    #expect(try spool.spool.objects.names() == [other])
    #expect(try spool.spool.published.names() == [])
    #expect(try await spool.ledger.count("uploads") == 0)
  }

  @Test func unsealedObjectGoesWithItsLastMessage() async throws {
    let spool = try SpoolUnderJanitor()
    let shared = try publish(spool, "mine", object: [1], isSealed: false)
    _ = try publish(spool, "unknown", object: [2], isSealed: false)
    try await upload(spool, "mine", shared, "published")
    try await upload(spool, "theirs", shared, "published")
    _ = try await purge(spool).run([marked])
    #expect(try spool.spool.objects.names().count == 2)
    _ = try publish(spool, "theirs", object: [1], isSealed: false)
    _ = try await purge(spool).run([marked])
    #expect(try spool.spool.objects.names() == [SHA256Digest(of: [2]).hex], "nobody knows who else has it")
  }

  @Test func rebuiltLedgerKeepsUnsealedObjects() async throws {
    let spool = try SpoolUnderJanitor()
    try await spool.ledger.noteRebuilt()
    let plain = try publish(spool, "plain", object: [1], isSealed: false)
    _ = try publish(spool, "sealed", object: [2])
    try await upload(spool, "plain", plain, "published")
    _ = try await purge(spool).run([marked])
    #expect(try spool.spool.objects.names() == [plain])
  }

  @Test func daemonDeletesObjectsOfOtherStoresAndStubbornOnes() async throws {
    let spool = try SpoolUnderJanitor()
    let name = try publish(spool, "sealed", object: [1])
    try spool.spool.objects.remove(name)
    _ = try spool.spool.objects.make(name)
    try await spool.ledger.write {
      try $0.execute(
        sql: "INSERT INTO uploads (message, store, object, state, started_at) VALUES ('m', 's3', 'o', 'abandoned', 1)")
    }
    _ = try await purge(spool).run([marked])
    #expect(try await spool.ledger.claimAbandonedUploads(limit: 9).map(\.object) == ["o", name])
  }

  @Test func openReaderDelaysThePurgeAndTheOrderStays() async throws {
    let spool = try SpoolUnderJanitor()
    try await spool.send("a", to: "MARKER")
    try PurgeOrders(spool.spool).add([marked])
    var configuration = Configuration()
    configuration.readonly = true
    configuration.allowsUnsafeTransactions = true
    let reader = try DatabaseQueue(
      path: spool.spool.state.path(of: Ledger.fileName), configuration: configuration)
    let purge = PurgeRun(spool: spool.spool, ledger: spool.ledger)
    try await reader.writeWithoutTransaction { try $0.execute(sql: "BEGIN; SELECT count(*) FROM requests") }
    await #expect(throws: ScrubError.self) { _ = try await purge.run(purge.ordered().conversations) }
    #expect(try await purge.ordered().conversations == [marked])
    try await reader.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
    _ = try await purge.run(purge.ordered().conversations)
    #expect(try await purge.ordered().conversations == [])
    #expect(try hits(spool) == 0)
    #expect(try spool.spool.purge.names() == [])
  }

  @Test func onlyTheNamedLineOfAnOrderIsRemoved() async throws {
    let spool = try SpoolUnderJanitor()
    try spool.spool.purge.write(Array("one\n\u{1}bad\ntwo\n".utf8), as: "please")
    let orders = PurgeOrders(spool.spool)
    let read = try orders.read()
    #expect(read.conversations.map(\.text) == ["one", "two"] && read.unreadable.count == 1)
    try orders.strike([ConversationID(unchecked: "one")])
    #expect(try orders.read().conversations.map(\.text) == ["two"])
    try orders.strike([ConversationID(unchecked: "two")])
    // An invalid line stays for correction.
    #expect(try spool.spool.purge.file("please").contents(limit: 99) == Array("\u{1}bad\n".utf8))
  }

  @Test func invalidLinePurgesNothingAndKeepsFormerLedgers() async throws {
    let spool = try SpoolUnderJanitor()
    _ = try spool.spool.state.make("ledger-20260101T000000Z")
    try spool.spool.purge.write(Array(repeating: UInt8(ascii: "a"), count: 300), as: "mistyped")
    let report = try await spool.janitor().pass()
    #expect(report.purged.conversations == 0 && report.warnings.count == 1)
    #expect(report.warnings.first?.contains("purge/mistyped") == true)
    #expect(try spool.spool.purge.names() == ["mistyped"])
    #expect(try spool.spool.state.entry("ledger-20260101T000000Z") != nil)
  }

  @Test func oversizedOrderBlocksNoOther() async throws {
    let spool = try SpoolUnderJanitor()
    try await spool.send("a", to: "MARKER")
    for directory in [spool.spool.purge, spool.spool.cancel] {
      try directory.write([UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20 + 1), as: "huge")
      try directory.write(Array("MARKER\n".utf8), as: "please")
    }
    let report = try await spool.janitor().pass()
    #expect(report.purged.conversations == 1 && report.warnings.first?.contains("purge/huge") == true)
    #expect(try spool.spool.purge.names() == ["huge"])
    let (orders, unreadable) = try OrderFile.all(in: spool.spool.cancel)
    #expect(orders.map(\.lines) == [["MARKER"]] && unreadable.first?.contains("cancel/huge") == true)
  }

  @Test func orderThatReplacedTheExecutedOneStays() async throws {
    let spool = try SpoolUnderJanitor()
    let cancel = spool.spool.cancel
    func order() throws -> OrderFile { try #require(try OrderFile.all(in: cancel).files.first) }
    try cancel.write(Array("first\n".utf8), as: "please")
    let first = try order()
    try cancel.write(Array("second\n".utf8), as: "please")
    try first.remove(from: cancel, of: spool.spool)
    #expect(try order().lines == ["second"])
    try order().remove(from: cancel, of: spool.spool)
    #expect(try cancel.names() == [])
  }

  @Test func foreignEntryUnderTheRequestsNameStays() async throws {
    let spool = try SpoolUnderJanitor()
    try await spool.send("a", to: "MARKER")
    try await spool.file("a", to: "MARKER")
    let failed = try spool.spool.failed.directory(creating: "a")
    try failed.write(Array("precious".utf8), as: "entry")
    let other = try spool.spool.cur.directory(creating: "a")
    try other.write(Array("another\n".utf8), as: "to")
    _ = try await PurgeRun(spool: spool.spool, ledger: spool.ledger).run([marked])
    #expect(try spool.spool.sent.names() == [])
    #expect(try spool.spool.failed.names() == ["a"] && spool.spool.cur.names() == ["a"])
  }

  @Test func copiedRequestDirectoryIsPurged() async throws {
    let spool = try SpoolUnderJanitor()
    try await spool.send("a", to: "MARKER")
    // As in a restored spool: the ledger knows another inode.
    try await spool.file("a", to: "MARKER", isCopy: true)
    _ = try await PurgeRun(spool: spool.spool, ledger: spool.ledger).run([marked])
    #expect(try spool.spool.sent.names() == [])
  }

  @Test func reusedInodeIsNotTakenForTheRequest() async throws {
    let spool = try SpoolUnderJanitor()
    try await spool.send("a", to: "MARKER")
    let failed = try spool.spool.failed.directory(creating: "a")
    var request = RequestRow()
    request.request = "a"
    request.inode = try failed.entry().inode
    let requests = RequestsOf(marked)
    #expect(try requests.request(request, in: spool.spool.failed) == nil)
    try failed.write(Array("MARKER\n".utf8), as: "to")
    #expect(try requests.request(request, in: spool.spool.failed) != nil)
  }

  @Test func filesOpenForWritingInTmpStay() async throws {
    let spool = try SpoolUnderJanitor()
    for name in ["held", "left"] {
      _ = try spool.spool.tmp.make(name)
      try spool.spool.tmp.directory(name).write(Array("MARKER\n".utf8), as: "to")
    }
    let held = try spool.spool.tmp.directory("held")
    #expect(try held.tryLock())
    _ = try await PurgeRun(spool: spool.spool, ledger: spool.ledger).run([marked])
    #expect(try spool.spool.tmp.names().filter { $0 != ".order" } == ["held"])
  }

  @Test func leftoversOfAKilledDeletionGo() async throws {
    let spool = try SpoolUnderJanitor()
    _ = try spool.spool.new.make("b")
    try spool.spool.new.directory("b").write(Array("MARKER\n".utf8), as: "caption")
    _ = try #require(try spool.spool.takeAway("b", from: spool.spool.new))
    _ = try await PurgeRun(spool: spool.spool, ledger: spool.ledger).run([marked])
    #expect(try spool.spool.state.directory(Trash.directoryName).names() == [])
  }
}
