import Foundation
import Ledgers
import Logging
import Messages
import Settings
import Signalling
import Spooling
import TestSupport
import Testing

@testable import Delivery

/// A failure affects one conversation only. No time is measured: a failed wait would last an hour.
@Suite(.timeLimit(.minutes(5))) struct FairnessTests {
  private func patient(_ settings: inout Settings) {
    settings.delivery.probe = .hours(1)
    settings.delivery.mending = .hours(1)
    settings.delivery.backoff = RetryPolicy(first: .hours(10), longest: .hours(10))
  }

  @Test(
    "A conversation that fails gives its worker back, and closes no destination to the others",
    arguments: [
      Cause.serverBusy, .network, .timeout, .forbidden, .roomGone, .conflict, .authExpired, .accountDisabled,
      .configError, .rateLimited,
    ])
  func oneFails(_ cause: Cause) async throws {
    let network = ScriptedNetwork {
      $0.address.text == "bad" ? DeliveryError(cause, "it does not take messages of \($0.address)") : nil
    }
    let daemon = try DaemonUnderTest(network: network) {
      patient(&$0)
      $0.delivery.conversations = 1
    }
    try await daemon.run { daemon in
      for number in 0..<5 { try daemon.drop("\(number)", to: "bad") }
      await network.wait { $0.asked >= 1 }
      for number in 0..<5 {
        for conversation in 0..<9 { try daemon.drop("\(number)", to: "good\(conversation)") }
      }
      await network.wait { $0.published == 45 }
      for conversation in 0..<9 {
        #expect(await network.texts(in: "good\(conversation)") == ["0", "1", "2", "3", "4"])
      }
    }
  }

  @Test("A broken connection affects all conversations once a second one meets it, with no success between")
  func brokenConnections() async throws {
    let scratch = try TemporaryDirectory()
    let spool = try Spool(creating: scratch.path("spool"))
    let circuits = Circuits(DeliveryCore(try Ledger(in: spool.state), in: spool))
    for cause in [Cause.network, .timeout] {
      let error = DeliveryError(cause, "the connection was lost")
      for _ in 0..<3 { try await circuits.failed("here", error, conversation: 1) }
      try await circuits.succeeded("here", for: 3)
      try await circuits.failed("here", error, conversation: 2)
      try await circuits.failed("elsewhere", error, conversation: 1)
      #expect(await circuits.obstacle(to: "here", for: 3) == nil)
      try await circuits.failed("here", error, conversation: 1)
      #expect(await circuits.obstacle(to: "here", for: 3) == error)
      #expect(await circuits.obstacle(to: "elsewhere", for: 3) == nil)
      for place in ["here", "elsewhere"] { try await circuits.succeeded(place, for: 3) }
    }
    // Nothing was sent, so no message can be at fault.
    try await circuits.failed("here", DeliveryError(.unreachable, "there is no route"), conversation: 1)
    #expect(await circuits.obstacle(to: "here", for: 3) != nil)
  }

  @Test("A hanging store delays only photos of its own conversations")
  func storeHangs() async throws {
    let (network, hanging) = (ScriptedNetwork(), HangingStore())
    let daemon = try DaemonUnderTest(network: network, badStore: hanging, preparer: EasyPreparer()) {
      patient(&$0)
      $0.delivery.uploads = 2
    }
    try await daemon.run { daemon in
      // More than there are places, in two conversations.
      var names: [String] = []
      for _ in 0..<4 {
        for conversation in ["bad1", "bad2"] { names.append(try daemon.sendPhoto(to: conversation)) }
      }
      // Each has a first photo; the rest waits behind it.
      await hanging.wait(for: 2)
      for number in 0..<9 { try daemon.sendPhoto(to: "good\(number)") }
      await network.wait { $0.published == 9 }
      #expect(await hanging.hanging == 2)
      // Photos behind stalled ones can still be cancelled.
      for name in names.reversed() {
        while try await daemon.ask(.cancel([name]))?.outcomes.first?.isDone != true { await Task.yield() }
      }
    }
  }
}
