import Control
import Testing

@testable import Delivery

/// Story t-69 has rounds that several share, that an asker leaves, and that a stop ends.
@Suite(.timeLimit(.minutes(10))) struct CheckRoundTests {
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
