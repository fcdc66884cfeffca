import DurableFiles
import Foundation
import Ledgers
import Messages
import Networks
import Seals
import Spooling
import TestSupport
import Testing

@testable import Delivery

@Suite(.timeLimit(.minutes(5))) struct ProfileTests {
  private let me = InboxID(unchecked: "default")

  private func photo(_ scratch: TemporaryDirectory, _ text: String) throws -> File {
    try Data(text.utf8).write(to: URL(fileURLWithPath: scratch.path(text)))
    return try File(reading: scratch.path(text))
  }

  private func waitUntil(_ isSo: () async throws -> Bool) async throws {
    while try await !isSo() { try await Task.sleep(for: .milliseconds(20)) }
  }

  @Test("A profile photo takes its own route, whatever conversations the rules match")
  func route() throws {
    let network = ScriptedNetwork()
    let store = HeldStore()
    func route(_ place: String) -> Route {
      Route(
        seal: NoSeal(), store: store, network: network, key: RouteKey(seal: .unsealed, store: DestinationKey(place)))
    }
    let all = Destinations.Rule(route("rule"), address: Address(unchecked: "elsewhere")) { _ in true }
    let destinations = Destinations(standard: route("standard"), rules: [all], profile: route("profile"))
    let profile = ConversationID.profile(of: me)
    let way = destinations.way(of: profile)
    #expect(way.route.key == route("profile").key && way.address == profile.address)
    #expect(destinations.route(for: ConversationID(unchecked: "family")).key == route("rule").key)
    let group = Address(unchecked: "group:01")
    let grouped = Destinations(
      standard: route("standard"), rules: [all], profile: route("profile"), profileAddress: group)
    #expect(grouped.way(of: profile).address == group && grouped.route(for: profile).key == route("profile").key)
  }

  @Test("The old object is kept until the new photo is set, and a refusal leaves it")
  func oldOneStays() async throws {
    let isRefused: @Sendable (OutgoingMessage) -> DeliveryError? = { _ in DeliveryError(.rejected, "no") }
    let network = ScriptedNetwork()
    let store = HeldStore()
    let daemon = try DaemonUnderTest(network: network, store: store, preparer: EasyPreparer())
    try await daemon.run { daemon in
      _ = try daemon.change(photo(daemon.scratch, "one"))
      try await waitUntil { try daemon.profile() != nil }
      let first = await store.kept
      #expect(first.count == 1)
      // Refused: its own object goes, the first one stays.
      await network.answer(isRefused)
      let refused = try daemon.change(photo(daemon.scratch, "two"))
      try await waitUntil { try daemon.story(of: refused)?.state == .failed }
      await store.wait { _, kept in kept == first }
      // Without an answer the first one stays, too.
      let asked = await network.asked
      await network.answer { _ in DeliveryError(.serverBusy, "later", retryAfter: 0.05) }
      let third = try daemon.change(photo(daemon.scratch, "three"))
      await network.wait { $0.asked >= asked + 3 }
      #expect(await store.kept.isSuperset(of: first))
      // Other conversations do not wait.
      await network.answer { message in
        message.content.kind.isOfProfile ? DeliveryError(.serverBusy, "later", retryAfter: 0.05) : nil
      }
      let text = try daemon.drop("hello", to: "family")
      try await waitUntil { try daemon.story(of: text)?.state == .sent }
      await network.answer { _ in nil }
      try await waitUntil { try daemon.story(of: third)?.state == .sent }
      await store.wait { _, kept in kept.count == 1 && kept.isDisjoint(with: first) }
      let removal = try daemon.change(nil)
      try await waitUntil { try daemon.story(of: removal)?.state == .sent }
      await store.wait { _, kept in kept.isEmpty }
      #expect(try daemon.profile()?.message == nil)
    }
  }
}

extension DaemonUnderTest {
  /// Drops a change or the removal of the profile photo, and returns the request's name.
  fileprivate func change(_ photo: File?) throws -> String {
    try Submission(profilePhoto: photo, of: nil, key: nil).drop(into: spool.path).text
  }

  fileprivate func profile() throws -> Profile? {
    try LedgerView(in: spool.state).profile(of: InboxID(unchecked: "default"))
  }
}
