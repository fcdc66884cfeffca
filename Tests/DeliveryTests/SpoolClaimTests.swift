import Networks
import Seals
import Settings
import Spooling
import Stores
import TestSupport
import Testing

@testable import Delivery

struct SpoolClaimTests {
  @Test("a daemon that has stopped gives the spool back, even while something refers to it")
  func givesTheSpoolBack() async throws {
    let scratch = try TemporaryDirectory()
    let spool = try Spool(creating: scratch.path("spool"))
    let store = HeldStore()
    let route = Route(
      seal: XMTPSeal(), store: store, network: ScriptedNetwork(),
      key: RouteKey(seal: .xmtp, store: DestinationKey(store.name)))
    let plan = DeliveryPlan(
      settings: Settings(), destinations: Destinations(standard: route), preparer: NoPreparer())
    let daemon = try await Daemon(spool: spool, plan: plan, log: silent)
    #expect(try spool.claim(briefly: false) == nil)
    let task = Task { try await daemon.run(signals: []) }
    task.cancel()
    _ = await task.result
    let claim = try #require(try spool.claim(briefly: false))
    claim.release()
    withExtendedLifetime(daemon) {}
  }
}
