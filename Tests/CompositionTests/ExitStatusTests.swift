import DurableFiles
import Ledgers
import Messages
import Settings
import Spooling
import Testing

@testable import Composition

@Suite struct ExitStatusTests {
  @Test("Every error of ours has a status of sysexits.h")
  func errors() {
    #expect(ExitStatus(for: Failure(.badData, "x")) == .badData)
    #expect(ExitStatus(for: SpoolError.busy("/spool")) == .tryAgain)
    #expect(ExitStatus(for: Refusal.badName) == .badData)
  }

  @Test("An error of somebody else has none")
  func others() { #expect(ExitStatus(for: CancellationError()) == nil) }
}
