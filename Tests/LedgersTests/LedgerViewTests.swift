import DurableFiles
import GRDB
import Messages
import TestSupport
import Testing

@testable import Ledgers

@Suite(.timeLimit(.minutes(10))) struct LedgerViewTests {
  private let scratch: TemporaryDirectory
  private let state: Directory

  private var path: String { scratch.path(Ledger.fileName) }

  init() throws {
    scratch = try TemporaryDirectory()
    state = try Directory(path: scratch.path)
  }

  @Test("A ledger that cannot be read yet is not taken for a missing one")
  func older() throws {
    try EarlierProgram.first.makeLedger(at: path, holding: EarlierProgram.waitingText)
    // A janitor has removed the finished rows.
    let queue = try DatabaseQueue(path: path)
    try queue.write { try $0.execute(sql: "DELETE FROM messages; DELETE FROM requests") }
    try queue.close()
    #expect { try LedgerView(ifThereIsOneIn: state) } throws: { error in
      if case LedgerError.older = error { true } else { false }
    }
  }

  @Test("Tables that a daemon is about to make count as missing")
  func halfMade() throws {
    #expect(try LedgerView(ifThereIsOneIn: state) == nil)
    try EarlierProgram.first.makeLedger(at: path)
    #expect(try LedgerView(ifThereIsOneIn: state) == nil)
  }
}
