import DurableFiles
import Foundation
import Ledgers
import Logging
import Messages
import Networks
import Photos
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

  @Test("A connection that breaks concerns all once a second conversation has seen it, with no success between")
  func brokenConnections() async throws {
    let scratch = try TemporaryDirectory()
    let spool = try Spool(creating: scratch.path("spool"))
    let circuits = Circuits(
      ledger: try Ledger(in: spool.state), settings: Settings().delivery, dispatcher: Bell(),
      log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
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

  @Test("A store that hangs holds up the photos of its own conversations, and nobody else's")
  func storeHangs() async throws {
    let (network, hanging) = (ScriptedNetwork(), HangingStore())
    let daemon = try DaemonUnderTest(network: network, badStore: hanging, preparer: SmallPhotos()) {
      patient(&$0)
      $0.delivery.uploads = 2
    }
    try await daemon.run { daemon in
      try Data("a photo".utf8).write(to: URL(fileURLWithPath: daemon.scratch.path("photo.jpg")))
      let photo = try File(reading: daemon.scratch.path("photo.jpg"))
      // More than there are places, in two conversations.
      var names: [String] = []
      for _ in 0..<4 {
        for conversation in ["bad1", "bad2"] { names.append(try daemon.drop(nil, to: conversation, photos: [photo])) }
      }
      // Each has a first photo; the rest waits behind it.
      await hanging.wait(for: 2)
      for number in 0..<9 { try daemon.drop(nil, to: "good\(number)", photos: [photo]) }
      await network.wait { $0.published == 9 }
      #expect(await hanging.hanging == 2)
      // Photos behind stalled ones can still be cancelled.
      for name in names.reversed() {
        while try await daemon.ask(.cancel([name]))?.outcomes.first?.isDone != true { await Task.yield() }
      }
    }
  }

  @Test(
    "A free place goes to whoever has the fewest, nobody ever has more than half of them, and each store has its own")
  func places() async throws {
    let (slots, gates) = (Slots(4), Gates())
    let take = { @Sendable (store: String, owner: Int64) in
      let key = slots.announce(ahead: false, store: store, owner: owner)
      defer { slots.retire(key) }
      try await slots.with(key) { await gates.enter(owner) }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<6 { group.addTask { try await take("here", 1) } }
      await gates.wait { $0[1] == 2 }
      for owner in [Int64(2), 3] { group.addTask { try await take("here", owner) } }
      // Four places: two for the first owner, and one each for the later ones.
      await gates.wait { $0 == [1: 2, 2: 1, 3: 1] }
      group.addTask { try await take("elsewhere", 4) }
      await gates.wait { $0[4] == 1 }
      await gates.open()
      try await group.waitForAll()
      #expect(await gates.most[1] == 2)
    }
  }
}

/// Holds tasks until all may continue.
private actor Gates {
  private(set) var most: [Int64: Int] = [:]
  private var inside: [Int64: Int] = [:]
  private var isOpen = false
  private var held: [CheckedContinuation<Void, Never>] = []
  private var waiters: [(@Sendable ([Int64: Int]) -> Bool, CheckedContinuation<Void, Never>)] = []

  func enter(_ owner: Int64) async {
    inside[owner, default: 0] += 1
    most[owner] = max(most[owner, default: 0], inside[owner, default: 0])
    for (_, waiter) in waiters.filter({ $0.0(inside) }) { waiter.resume() }
    waiters.removeAll { $0.0(inside) }
    if !isOpen { await withCheckedContinuation { held.append($0) } }
    inside[owner, default: 0] -= 1
  }

  func wait(until condition: @escaping @Sendable ([Int64: Int]) -> Bool) async {
    if condition(inside) { return }
    await withCheckedContinuation { waiters.append((condition, $0)) }
  }

  func open() {
    isOpen = true
    for task in held { task.resume() }
    held = []
  }
}

private struct SmallPhotos: PhotoPreparer {
  func prepare(_ photo: PhotoBytes, for use: PhotoUse) async throws(DeliveryError) -> PreparedPhoto {
    PreparedPhoto(
      jpeg: [1], width: 1, height: 1, thumbnail: [2], blurred: [3], blurhash: "00", quality: 85,
      original: OriginalPhoto(format: .jpeg, bytes: 1, width: 1, height: 1, orientation: 1), stripped: [])
  }
}
