import Control
import Janitor
import Ledgers
import Spooling
import Testing

@testable import Delivery

@Suite(.timeLimit(.minutes(10))) struct ClearTests {
  @Test("A scope that is no name is refused with its sentence, and nothing goes")
  func badScope() async throws {
    let daemon = try DaemonUnderTest(network: ScriptedNetwork())
    try await daemon.run { daemon in
      while try await daemon.ask(.progress) == nil { await Task.yield() }
      await #expect(throws: ControlError.self) { try await daemon.ask(.clear(inbox: "", conversation: nil)) }
    }
  }

  @Test("A stop ends an order that waits for a janitor, and waits for the order")
  func stop() async throws {
    let daemon = try DaemonUnderTest(network: ScriptedNetwork())
    let ledger = try Ledger(in: daemon.spool.state)
    let clearer = Clearer(clearing: CacheClearing(spool: daemon.spool, ledger: ledger))
    let turn = try #require(try SpoolJanitor.turn(on: daemon.spool))
    async let clearing = clearer.clear(inbox: nil, conversation: nil)
    let service = Task { try await clearer.run() }
    service.cancel()
    #expect(try await !clearing.isDone)
    try await service.value
    turn.release()
    #expect(try await !clearer.clear(inbox: nil, conversation: nil).isDone)
  }
}
