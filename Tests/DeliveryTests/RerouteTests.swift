import Ledgers
import Messages
import Testing

@testable import Delivery
@testable import Networks

/// A message may be published already when its conversation is sent elsewhere: then it is neither doubled nor lost.
@Suite(.timeLimit(.minutes(5))) struct RerouteTests {
  private let first = ScriptedNetwork(name: "first") { _ in DeliveryError(.unreachable, "nobody is there") }
  private let second = ScriptedNetwork(name: "second")
  private let family = Address(unchecked: "family")
  private let daemon: DaemonUnderTest
  private let request: String

  /// A text waits that the first network, which cannot be reached, was not given.
  init() async throws {
    daemon = try DaemonUnderTest(network: first) {
      $0.delivery.backoff = RetryPolicy(first: .milliseconds(10), longest: .milliseconds(50))
      $0.delivery.mending = .milliseconds(10)
    }
    request = try daemon.drop("hello", to: "family")
    try await daemon.run { daemon in await daemon.network.wait { $0.asked > 0 } }
  }

  /// Begins to publish the text on the first network, as a process that is killed then.
  private func beginAndDie() async throws {
    let ledger = try Ledger(in: daemon.spool.state)
    let text = try #require(try await ledger.head(of: 1, limit: 1).first)
    let next = [(text, String?.none, Recipient(network: "first", address: family))]
    #expect(try await ledger.end(thenBegin: next, at: .now()).attempts == [1])
    try ledger.close()
  }

  private func wasSent(by daemon: DaemonUnderTest) async throws {
    while try daemon.story(of: request)?.state != .sent { await Task.yield() }
  }

  @Test func neverOfferedMessageGoesToTheNewNetwork() async throws {
    try await daemon.rerouted(to: second, besides: [first]).run { try await wasSent(by: $0) }
    #expect(await second.published.map(\.address) == [family])
    #expect(await first.searched.isEmpty)
  }

  @Test func messagePublishedByTheFormerNetworkIsNotPublishedAgain() async throws {
    try await beginAndDie()
    await first.find(as: .published(Publication(publishedAt: .now(), remoteID: "1", attachment: nil)))
    try await daemon.rerouted(to: second, besides: [first]).run { try await wasSent(by: $0) }
    #expect(await first.searched.map(\.address) == [family])
    #expect(await second.asked == 0)
  }

  @Test func messageAbsentFromTheFormerNetworkGoesToTheNewOne() async throws {
    try await beginAndDie()
    await first.find(as: .absent)
    try await daemon.rerouted(to: second, under: Address(unchecked: "there"), besides: [first]).run {
      try await wasSent(by: $0)
    }
    #expect(await second.published.map(\.address.text) == ["there"])
    #expect(await second.searched.isEmpty)
  }

  @Test func uncertainMessageIsPublishedAgainOnTheFormerNetwork() async throws {
    try await beginAndDie()
    await first.answer { _ in nil }
    try await daemon.rerouted(to: second, besides: [first]).run { try await wasSent(by: $0) }
    #expect(await first.published.map(\.address) == [family])
    #expect(await second.asked == 0)
  }

  @Test func lostAnswerLeavesTheMessageOnItsNetwork() async throws {
    await first.answer { _ in DeliveryError(.timeout, "no answer") }
    try await daemon.run { daemon in
      while try daemon.story(of: request)?.messages.first?.error != "no answer" { await Task.yield() }
    }
    await first.answer { _ in nil }
    try await daemon.rerouted(to: second, besides: [first]).run { try await wasSent(by: $0) }
    #expect(await first.published.count == 1)
    #expect(await second.asked == 0)
  }

  @Test func aRefusalLetsTheMessageGoElsewhere() async throws {
    await first.answer { _ in DeliveryError(.authExpired, "log in again") }
    try await daemon.run { daemon in
      while try daemon.story(of: request)?.messages.first?.error != "log in again" { await Task.yield() }
    }
    try await daemon.rerouted(to: second, besides: [first]).run { try await wasSent(by: $0) }
    #expect(await second.published.count == 1)
  }

  @Test func anotherAddressOnTheSameNetworkIsAnotherRecipient() async throws {
    try await beginAndDie()
    await first.answer { _ in nil }
    try await daemon.rerouted(to: first, under: Address(unchecked: "there")).run { try await wasSent(by: $0) }
    #expect(await first.published.map(\.address) == [family])
  }

  @Test func messageWaitsWhileItsFormerNetworkIsMissing() async throws {
    try await beginAndDie()
    try await daemon.rerouted(to: second).run { daemon in
      while try daemon.story(of: request)?.messages.first?.error?.contains("is configured no more") != true {
        await Task.yield()
      }
      try daemon.drop("later", to: "friends")
      await daemon.network.wait { $0.published == 1 }
    }
    #expect(await second.texts(in: "friends") == ["later"])
    await first.answer { _ in nil }
    try await daemon.rerouted(to: second, besides: [first]).run { try await wasSent(by: $0) }
    #expect(await first.published.count == 1)
  }
}
