import Foundation
import GRDB
import Messages
import Synchronization
import TestSupport
import Testing

@testable import Ledgers

@Suite struct LedgerTests: LedgerSuite {
  let fresh: FreshLedger

  @Test func aCommitSurvivesAPowerCutBySettings() async throws {
    let settings = try await ledger.write { database in
      try ["journal_mode", "synchronous", "secure_delete"].map {
        try String.fetchOne(database, sql: "PRAGMA \($0)")
      }
    }
    #expect(settings == ["wal", "2", "1"])
  }

  @Test func nothingIsSetAsideInFilesOutsideTheSpool() async throws {
    let inMemory = "2"
    let writer = try await ledger.write { try String.fetchOne($0, sql: "PRAGMA temp_store") }
    let reader = try await ledger.read { try String.fetchOne($0, sql: "PRAGMA temp_store") }
    #expect([writer, reader] == [inMemory, inMemory])
  }

  @Test func aNewerLedgerIsRefused() async throws {
    try await ledger.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('v999 from the future')") }
    try ledger.close()
    #expect { try Ledger(in: state) } throws: { "\($0)".contains("newer photospool") }
  }

  @Test func upgradeNeedsTheLedgerAlone() async throws {
    try await ledger.write {
      let earlier = "v16 requests that stay where they are, owners of drafts"
      try $0.execute(sql: "UPDATE grdb_migrations SET identifier = ?", arguments: [earlier])
    }
    try ledger.close()
    #expect { try Ledger(in: state, isOwn: false) } throws: { "\($0)".contains("an earlier photospool") }
    try Ledger(in: state).close()
    try Ledger(in: state, isOwn: false).close()
  }

  @Test func aDamagedLedgerIsRefusedAndNotReplaced() throws {
    try ledger.close()
    let path = state.path(of: Ledger.fileName)
    try Data(repeating: 7, count: 10_000).write(to: URL(fileURLWithPath: path))
    #expect { try Ledger(in: state) } throws: { "\($0)".contains("is damaged") }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count == 10_000)
  }

  @Test func damageFoundInTheBackgroundIsReportedAndStopsWrites() async throws {
    for number in 0..<500 { try await accept(NewRequest("r\(number)", inode: UInt64(number + 1))) }
    try ledger.close()
    let path = state.path(of: Ledger.fileName)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let middle = bytes.count / 8192 * 4096
    bytes.replaceSubrange(middle..<middle + 4096, with: Data(count: 4096))
    try bytes.write(to: URL(fileURLWithPath: path))
    let damaged = try Ledger(in: state)
    let told = Mutex<[String]>([])
    damaged.onFailure { error in told.withLock { $0.append("\(error)") } }
    await #expect { try await damaged.checkIntegrity() } throws: { "\($0)".contains("is damaged") }
    #expect(told.withLock { $0 }.count == 1)
    await #expect { try await damaged.write { _ in } } throws: { "\($0)".contains("is damaged") }
  }

  @Test func toolsReadBesideTheWriterAndWithoutIt() async throws {
    try await accept(NewRequest("a", inode: 1, files: ["photo", "text"]), NewRequest("b", inode: 2, to: "friends"))
    func lines() throws -> [String] {
      var lines = [String]()
      try LedgerView(in: state).forEachLine {
        lines.append("\($0.request) \($0.conversation ?? "") \($0.kind?.rawValue ?? "")")
      }
      return lines
    }
    let expected = ["a family photo", "a family text", "b friends text"]
    #expect(try lines() == expected)
    try ledger.close()
    #expect(try lines() == expected)
    let view = try LedgerView(in: state)
    #expect(try view.story(of: "a")?.messages.map(\.file) == ["photo", "text"])
    #expect(try view.request("nobody") == nil)
    let shape = try view.shape(minutes: [5, 10], at: now.advanced(seconds: 400))
    #expect(shape.map(\.conversation) == ["family", "friends"] && shape[0].counts == [0, 2, 0])
  }
}
