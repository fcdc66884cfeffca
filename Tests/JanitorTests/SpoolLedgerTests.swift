import Spooling
import TestSupport
import Testing

@testable import Janitor
@testable import Ledgers

@Suite(.timeLimit(.minutes(10))) struct SpoolLedgerTests {
  private let scratch: TemporaryDirectory
  private let spool: Spool

  init() throws {
    scratch = try TemporaryDirectory()
    spool = try Spool(creating: scratch.path("spool"))
    try EarlierProgram.last.makeLedger(at: spool.state.path(of: Ledger.fileName))
  }

  @Test("A command changes no ledger beside a daemon, which may be one of an earlier version")
  func besideADaemon() throws {
    let daemon = try #require(try spool.claim(briefly: false))
    #expect { try Ledger.beside(daemonOf: spool) } throws: { error in
      if case LedgerError.older = error { true } else { false }
    }
    daemon.release()
    try Ledger.beside(daemonOf: spool).close()
    // It was upgraded.
    let again = try #require(try spool.claim(briefly: false))
    try Ledger.beside(daemonOf: spool).close()
    again.release()
  }
}
