import Blocking
import Logging
import Messages
import Networks
import ServiceLifecycle
import Settings
import Signalling
import Spooling
import Synchronization

/// A network to listen to, and the inbox that receives.
package struct Subscription: Sendable {
  package let listener: any Listener
  package let inbox: InboxID

  package init(listener: any Listener, inbox: InboxID) {
    self.listener = listener
    self.inbox = inbox
  }

  fileprivate func isSame(as other: Subscription) -> Bool { listener === other.listener && inbox == other.inbox }
}

/// Listens to networks while the daemon runs, and drops messages into `incoming/new/` as a bridge would. Each network
/// has its own task. Order: messages are durably in `incoming/new/`, then the position after them is stored. After a
/// crash in between they are heard and dropped again, and the ledger recognises them.
package actor ListenerService: Service {
  private let incoming: IncomingSpool
  private let places: ListeningPlaces
  private let settings: @Sendable () -> Settings.Delivery
  private let log: Logger
  private let pool = BlockingPool(label: "listening", threads: 2)
  private nonisolated let wanted: Mutex<[Subscription]>
  private nonisolated let bell = Bell()
  private var listening: [String: (subscription: Subscription, task: Task<Void, Never>)] = [:]
  private var reports: [String: ListeningReport] = [:]
  private var pauses: [String: Task<Void, Never>] = [:]
  private var isStopping = false
  /// The shortest time between two empty answers.
  private static let breath = Duration.milliseconds(500)

  /// - Parameter settings: the current ones.
  package init(
    spool: Spool, subscriptions: [Subscription], settings: @escaping @Sendable () -> Settings.Delivery, log: Logger
  ) throws {
    incoming = try IncomingSpool(spool)
    places = try ListeningPlaces(spool)
    self.settings = settings
    self.log = log
    wanted = Mutex(subscriptions)
    bell.ring()
  }

  /// Listens to exactly these. Unchanged ones go on; others end first, so that nothing listens twice to one network.
  package nonisolated func follow(_ subscriptions: [Subscription]) {
    wanted.withLock { $0 = subscriptions }
    bell.ring()
  }

  /// Retries everything that failed.
  package func hurry() {
    for pause in pauses.values { pause.cancel() }
  }

  package var state: [ListeningReport] { reports.values.sorted { $0.network < $1.network } }

  package func run() async throws {
    await bell.serve(stopping: { Task { await self.stop() } }) {
      await reconcile()
    } failed: { _ in
      nil
    }
    await end(listening.keys.map(\.self))
  }

  /// Stops listening, and lets `run` end.
  func stop() {
    isStopping = true
    for (_, task) in listening.values { task.cancel() }
    bell.retire()
  }

  private func reconcile() async {
    let wanted = wanted.withLock(\.self)
    await end(
      listening.filter { _, current in !wanted.contains { $0.isSame(as: current.subscription) } }.map(\.key))
    for subscription in wanted where listening[subscription.listener.name] == nil && !isStopping {
      let network = subscription.listener.name
      reports[network] = ListeningReport(network)
      listening[network] = (subscription, Task { await self.listen(subscription) })
    }
  }

  private func end(_ networks: [String]) async {
    for network in networks { listening[network]?.task.cancel() }
    for network in networks {
      await listening[network]?.task.value
      listening[network] = nil
      reports[network] = nil
    }
  }

  // MARK: One network

  private func listen(_ subscription: Subscription) async {
    let listener = subscription.listener
    var failures = 0
    while !Task.isCancelled, !isStopping {
      do {
        try await listenOnce(subscription)
        note(success: listener.name)
        failures = 0
      } catch {
        if Task.isCancelled || isStopping { return }
        failures += 1
        let failure = DeliveryError(storing: error)
        let wait = ListeningPace(settings: settings()).wait(
          after: failure, failures: failures, random: .random(in: 0...1))
        note(failure, of: listener.name, wait: wait)
        await pause(listener.name, seconds: wait)
      }
    }
  }

  private func listenOnce(_ subscription: Subscription) async throws {
    let network = subscription.listener.name
    let place = try await pool.run { [places] in try places.place(of: network) }
    let began = ContinuousClock.now
    let heard = reports[network]?.heard
    let next = try await subscription.listener.listen(after: place) { arrivals in
      try await self.keep(arrivals, of: subscription)
    }
    if next != place { try await pool.run { [places] in try places.keep(next, of: network) } }
    // Limits requests to a server that always answers at once.
    if place != nil, heard == reports[network]?.heard, ContinuousClock.now - began < Self.breath {
      await pause(network, seconds: Self.breath / .seconds(1))
    }
  }

  /// Drops messages. One with an invalid id is skipped: intake would refuse it, and nobody could fix it.
  private func keep(_ arrivals: [Arrival], of subscription: Subscription) async throws {
    let drops = arrivals.compactMap { arrival in
      (try? RemoteMessageID(arrival.message)).map {
        Incoming(
          conversation: arrival.conversation, inbox: subscription.inbox, message: $0, sender: arrival.sender,
          attachment: arrival.attachment)
      }
    }
    let network = subscription.listener.name
    try await pool.run { [incoming] in try incoming.drop(drops, from: network) }
    reports[network]?.heard += drops.count
  }

  private func note(success network: String) {
    guard var report = reports[network] else { return }
    if report.failure != nil {
      log.info("listens again", metadata: ["network": "\(network)"])
    } else if report.answeredAt == nil {
      log.info("listening", metadata: ["network": "\(network)"])
    }
    report.failure = nil
    report.nextAttempt = nil
    report.answeredAt = .now()
    reports[network] = report
  }

  private func note(_ failure: DeliveryError, of network: String, wait: Double) {
    if reports[network]?.failure?.cause != failure.cause {
      log.warning(
        "nothing is heard",
        metadata: [
          "network": "\(network)", "cause": "\(failure.cause.rawValue)", "error": "\(escaped(failure.sentence))",
        ])
    }
    reports[network]?.failure = failure
    reports[network]?.nextAttempt = Timestamp.now().advanced(seconds: wait)
  }

  /// Waits, unless it is hurried or ended.
  private func pause(_ network: String, seconds: Double) async {
    let sleep = Task<Void, Never> { try? await Task.sleep(for: .seconds(seconds)) }
    pauses[network] = sleep
    await withTaskCancellationHandler {
      await sleep.value
    } onCancel: {
      sleep.cancel()
    }
    pauses[network] = nil
  }
}
