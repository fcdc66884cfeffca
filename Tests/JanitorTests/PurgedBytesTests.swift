import Foundation
import GRDB
import Messages
import Spooling
import TestSupport
import Testing

@testable import Janitor
@testable import Ledgers

@Suite struct PurgedBytesTests {
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
}
