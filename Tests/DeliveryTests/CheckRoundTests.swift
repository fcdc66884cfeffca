import Control
import Testing

@testable import Delivery

/// Story t-69 has rounds that several share, and that an asker leaves.
@Suite(.timeLimit(.minutes(10))) struct CheckRoundTests {
  @Test("A stop cancels the round, and nobody gets its answers")
  func stopped() async throws {
    let rounds = CheckRounds {
      try? await Task.sleep(for: .seconds(10_000))
      return []
    }
    async let answers = rounds.answers()
    let service = Task { try await rounds.run() }
    service.cancel()
    try await service.value
    #expect(await answers == nil)
    #expect(await rounds.answers() == nil)
  }

  @Test("The daemon answers with a line for each destination, however many")
  func throughDaemon() async throws {
    let many = (0..<20_000).map { ControlReply.Outcome("conversation \($0)", isDone: $0 > 0, "user is in the room") }
    try await DaemonUnderTest(network: ScriptedNetwork()).run(check: { many }) { daemon in
      var reply: ControlReply?
      while reply == nil { reply = try await daemon.ask(.check) }
      #expect(reply?.outcomes == many)
    }
  }
}
