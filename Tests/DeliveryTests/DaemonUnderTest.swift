import Blocking
import Control
import Ledgers
import Logging
import Messages
import Networks
import Photos
import Seals
import Settings
import Spooling
import Stores
import Supervision
import TestSupport
import Testing

@testable import Delivery

/// A whole daemon in this process with its own spool and a scripted network.
struct DaemonUnderTest {
  let scratch: TemporaryDirectory
  let spool: Spool
  private(set) var network: ScriptedNetwork
  private var plan: DeliveryPlan

  /// - Parameters:
  ///   - store: by default a directory in the spool.
  ///   - badStore: for conversations whose names begin with `bad`; by default the same.
  ///   - preparer: by default none, for texts.
  init(
    network: ScriptedNetwork, store: (any Store)? = nil, badStore: (any Store)? = nil,
    preparer: any PhotoPreparer = NoPreparer(),
    _ change: (inout Settings) -> Void = { _ in }
  ) throws {
    scratch = try TemporaryDirectory()
    spool = try Spool(creating: scratch.path("spool"))
    self.network = network
    let store: any Store =
      if let store { store } else {
        try DirectoryStore(
          directory: spool.objects.path, baseURL: nil, pool: BlockingPool(label: "store", threads: 2))
      }
    let key = RouteKey(seal: .xmtp, store: DestinationKey(store.name))
    let bad = Route(seal: XMTPSeal(), store: badStore ?? store, network: network, key: key)
    let destinations = Destinations(
      standard: Route(seal: XMTPSeal(), store: store, network: network, key: key),
      rules: [Destinations.Rule(bad) { $0.text.hasPrefix("bad") }], stores: [store] + (badStore.map { [$0] } ?? []))
    var settings = Settings()
    // Only one daemon per process has a watcher.
    settings.intake.rescan = .milliseconds(50)
    change(&settings)
    // A busy machine must not cut anything off.
    plan = DeliveryPlan(
      settings: settings, destinations: destinations, preparer: preparer, stopSeconds: nil)
  }

  /// The same spool under a configuration that sends all conversations to `network`, under `address` if there is one.
  func rerouted(
    to network: ScriptedNetwork, under address: Address? = nil, besides others: [any Network] = []
  ) -> DaemonUnderTest {
    func route(_ network: any Network) -> Route {
      let standard = plan.destinations.standard
      return Route(seal: standard.seal, store: standard.store, network: network, key: standard.key)
    }
    var daemon = self
    daemon.network = network
    daemon.plan = DeliveryPlan(
      settings: plan.settings,
      destinations: Destinations(
        standard: route(network), rules: [.init(route(network), address: address) { _ in true }],
        networks: ([network] + others).map { .init(key: DestinationKey($0.name), route: route($0)) }),
      preparer: plan.preparer, stopSeconds: nil)
    return daemon
  }

  /// Runs the daemon during `body`.
  ///
  /// - Parameters:
  ///   - manager: gets notifications.
  ///   - check: tests the destinations.
  ///   - hear: gets the ledger before anything else.
  func run(
    manager: ServiceManager? = nil, check: @escaping @Sendable () async -> [ControlReply.Outcome] = { [] },
    hear: (Ledger) throws -> Void = { _ in },
    _ body: @escaping @Sendable (DaemonUnderTest) async throws -> Void
  ) async throws {
    let daemon = try await Daemon(
      spool: spool, plan: plan, manager: manager, log: silent, check: check,
      receiving: { ledger, _ in
        try hear(ledger)
        return nil
      })
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await daemon.run(signals: []) }
      try await body(self)
      group.cancelAll()
    }
  }

  @discardableResult
  func drop(_ text: String, to conversation: String, key: String? = nil) throws -> String {
    try Submission(
      to: ConversationID(conversation), from: nil, key: key.flatMap(IdempotencyKey.init), text: text, photos: []
    )
    .drop(into: spool.path).text
  }

  /// Asks on its own thread: the cooperative threads are few, and the daemon needs them.
  func ask(_ request: ControlRequest) async throws -> ControlReply? {
    try await BlockingPool(label: "ask", threads: 1).run { [state = spool.state] in
      try ControlClient.ask(request, in: state, patience: 600)
    }
  }

  func story(of request: String) throws -> RequestStory? { try LedgerView(in: spool.state).story(of: request) }
}

extension DeliveryCore {
  /// The core of a service that is tested alone.
  ///
  /// - Parameter stores: the first is that of all conversations.
  init(_ ledger: Ledger, in spool: Spool, _ settings: Settings = Settings(), stores: [any Store] = [HeldStore()]) {
    let standard = Route(
      seal: XMTPSeal(), store: stores[0], network: ScriptedNetwork(),
      key: RouteKey(seal: .xmtp, store: DestinationKey(stores[0].name)))
    let plan = DeliveryPlan(
      settings: settings, destinations: Destinations(standard: standard, stores: stores), preparer: NoPreparer())
    self.init(
      spool: spool, ledger: ledger, plan: PlanInForce(plan), times: StepTimes(), troubles: Troubles(log: silent),
      log: silent)
  }
}

let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

struct NoPreparer: PhotoPreparer {
  func prepare(_ photo: PhotoBytes, for use: PhotoUse) async throws(DeliveryError) -> PreparedPhoto {
    throw DeliveryError(.unsupportedImage, "no photo was expected")
  }
}
