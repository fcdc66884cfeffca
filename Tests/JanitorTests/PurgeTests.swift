import GRDB
import Messages
import Spooling
import TestSupport
import Testing

@testable import Janitor
@testable import Ledgers

@Suite struct PurgeTests {
  private let marked = ConversationID(unchecked: "MARKER")

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
