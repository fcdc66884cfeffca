import Ledgers
import Messages
import Networks
import Testing

@testable import Delivery

/// Texts of a conversation that begin together go out in order, each once, and wait for one another no longer than they may.
@Suite(.timeLimit(.minutes(5))) struct RunTests {
  private static let count = 60

  private func dropped(to daemon: DaemonUnderTest) throws -> [String] {
    try (0..<Self.count).map { try daemon.drop("\($0)", to: "family") }
  }

  @Test("One that fails in the middle of a run fails by itself", arguments: [Cause.rejected, .serverBusy])
  func oneFails(_ cause: Cause) async throws {
    let network = ScriptedNetwork()
    let daemon = try DaemonUnderTest(network: network) { $0.retry = RetryPolicy(first: 0, longest: 0) }
    let names = try dropped(to: daemon)
    let failed = 23
    try await daemon.run { daemon in
      await network.answer { message in
        guard case .text("\(failed)") = message.content else { return nil }
        // The second attempt gets through.
        return cause == .rejected || message.firstTriedAt == nil ? DeliveryError(cause, "not this one") : nil
      }
      let sent = (0..<Self.count).filter { cause != .rejected || $0 != failed }
      await network.wait { $0.published == sent.count }
      #expect(await network.texts(in: "family") == sent.map(String.init))
      for (number, name) in names.enumerated() {
        let end: RequestState = sent.contains(number) ? .sent : .failed
        while try daemon.story(of: name)?.state != end { await Task.yield() }
        let attempts = try #require(try daemon.story(of: name)?.messages.first).attempts
        // What was behind it had not been tried.
        #expect(attempts.count == (number == failed && cause != .rejected ? 2 : 1), "\(number)")
      }
    }
  }

  @Test("What stands behind one that gets no answer can be cancelled")
  func oneHangs() async throws {
    let network = ScriptedNetwork()
    let daemon = try DaemonUnderTest(network: network)
    let names = try dropped(to: daemon)
    try await daemon.run { daemon in
      await network.wait { $0.published >= 20 }
      await network.hold("family")
      await network.wait { $0.unanswered == 1 }
      let hanging = await network.published.count
      for name in names[(hanging + 1)...] {
        while try await daemon.ask(.cancel([name]))?.outcomes.first?.isDone != true { await Task.yield() }
      }
      await network.answerHeld()
      while try daemon.story(of: names[hanging])?.state != .sent { await Task.yield() }
      for name in names[(hanging + 1)...] { #expect(try daemon.story(of: name)?.state == .cancelled) }
      #expect(await network.texts(in: "family") == (0...hanging).map(String.init))
    }
  }
}
