import DurableFiles
import Ledgers
import Messages
import Settings
import Spooling
import Testing

@testable import Composition

@Suite struct ExitStatusTests {
  @Test("Every error of the program has a status of sysexits.h")
  func errors() {
    #expect(ExitStatus(for: Failure(.badData, "x")) == .badData)
    #expect(ExitStatus(for: SpoolError.busy("/spool")) == .tryAgain)
    #expect(ExitStatus(for: Refusal.badName) == .badData)
  }

  @Test("Foreign errors have no status")
  func others() { #expect(ExitStatus(for: CancellationError()) == nil) }
}
