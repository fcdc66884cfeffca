import Messages
import Settings
import Testing

@testable import Delivery

@Suite(.timeLimit(.minutes(10))) struct CircuitTests {
  private static let unreachable = DeliveryError(.unreachable, "there is no route")

  private func quick(_ settings: inout Settings) {
    settings.delivery.probe = .milliseconds(50)
    settings.delivery.mending = .hours(1)
    settings.delivery.backoff = RetryPolicy(first: .milliseconds(10), longest: .milliseconds(50))
  }

  @Test("While a network cannot be reached one message probes it, no attempt counts, and then all goes out in order")
  func outage() async throws {
    let daemon = try DaemonUnderTest(network: ScriptedNetwork { _ in Self.unreachable }, quick)
    try await daemon.run { daemon in
      var names: [String] = []
      for number in 0..<5 {
        for conversation in 0..<10 { names.append(try daemon.drop("\(number)", to: "c\(conversation)")) }
      }
      await daemon.network.wait { $0.asked >= 30 }
      let inOutage = await daemon.network.asked
      await daemon.network.answer { _ in nil }
      await daemon.network.wait { $0.published == 50 }
      for conversation in 0..<10 {
        #expect(await daemon.network.texts(in: "c\(conversation)") == ["0", "1", "2", "3", "4"])
      }
      // Each conversation may fail once before the circuit opens; after that there is one probe at a time.
      #expect(await daemon.network.asked <= inOutage + 50 + 10)
      for name in names {
        let message = try #require(try daemon.story(of: name)?.messages.first)
        #expect(message.attempts.count <= 1, "\(name)")
      }
    }
  }

  @Test("A circuit for which nobody waits is not probed, and closes with the next message")
  func nobodyWaits() async throws {
    let daemon = try DaemonUnderTest(network: ScriptedNetwork { _ in Self.unreachable }, quick)
    try await daemon.run { daemon in
      let name = try daemon.drop("x", to: "family")
      await daemon.network.wait { $0.asked >= 2 }
      while try await daemon.ask(.cancel([name]))?.outcomes.first?.isDone != true { await Task.yield() }
      await daemon.network.answer { _ in nil }
      try daemon.drop("y", to: "family")
      await daemon.network.wait { $0.published == 1 }
      #expect(await daemon.network.texts(in: "family") == ["y"])
    }
  }

  @Test("Refused credentials fail nothing: the network is left alone until somebody asks for it")
  func refused() async throws {
    let daemon = try DaemonUnderTest(
      network: ScriptedNetwork { _ in DeliveryError(.authExpired, "the token is not valid") }, quick)
    try await daemon.run { daemon in
      for number in 0..<20 { try daemon.drop("\(number)", to: "c\(number)") }
      await daemon.network.wait { $0.asked >= 1 }
      await daemon.network.answer { _ in nil }
      // A conversation may have been parked just behind the first, and a daemon on a busy machine may answer late.
      while await daemon.network.published.count < 20 {
        _ = try? await daemon.ask(.flush)
        await Task.yield()
      }
      #expect(await daemon.network.published.count == 20)
    }
  }

  @Test("A message whose credentials are refused during a flush is tried again at once")
  func refusedDuringFlush() async throws {
    let network = ScriptedNetwork {
      $0.firstTriedAt == nil ? DeliveryError(.authExpired, "the former token is not valid") : nil
    }
    let daemon = try DaemonUnderTest(network: network, quick)
    await network.hold("family")
    try await daemon.run { daemon in
      try daemon.drop("x", to: "family")
      await network.wait { $0.unanswered == 1 }
      while try await daemon.ask(.flush) == nil { await Task.yield() }
      await network.answerHeld()
      await network.wait { $0.published == 1 }
    }
  }

  @Test("A message that always breaks the connection counts its attempts, and the others go on")
  func poisoned() async throws {
    let network = ScriptedNetwork {
      $0.address.text == "poisoned" ? DeliveryError(.network, "the connection was lost") : nil
    }
    let daemon = try DaemonUnderTest(network: network, quick)
    try await daemon.run { daemon in
      let poisoned = try daemon.drop("x", to: "poisoned")
      for number in 0..<100 { try daemon.drop("\(number)", to: "good\(number % 4)") }
      await network.wait { $0.published == 100 && $0.asked >= 103 }
      #expect(try #require(try daemon.story(of: poisoned)?.messages.first).attempts.count >= 2)
    }
  }

  @Test("Probes are never more than the longest pause apart, with some time left, and never many at once")
  func policy() {
    let policy = Settings().delivery
    for failures in [1, 2, 5, 50, .max] {
      for random in [0, 0.5, 1] {
        let pause = policy.pause(after: Self.unreachable, failures: failures, random: random)
        #expect(pause >= 0.25 && pause <= 4)
      }
    }
    let refused = DeliveryError(.authExpired, "no")
    #expect(policy.pause(after: refused, failures: Settings.Delivery.manyRefusals, random: 1) == 4)
    #expect(policy.pause(after: refused, failures: Settings.Delivery.manyRefusals + 1, random: 1) == 300)
    #expect(policy.rest(after: refused, failures: 1) == 300)
    #expect(policy.rest(after: DeliveryError(.rateLimited, "slowly", retryAfter: 7), failures: 3) == 7)
    #expect(policy.rest(after: DeliveryError(.rateLimited, "slowly"), failures: 99) == 60)
    #expect(policy.rest(after: Self.unreachable, failures: 99) == 0)
  }

  @Test("Only failures that say nothing of the message concern all")
  func causes() {
    let concerning = Cause.allCases.filter(\.concernsAll)
    #expect(
      Set(concerning) == [.unreachable, .network, .timeout, .rateLimited, .authExpired, .accountDisabled, .configError])
  }
}
