import Blocking
import DurableFiles
import Ledgers
import Logging
import ServiceLifecycle
import Signalling
import Spooling

/// The part of a cluster's host that publishes: the same dispatcher, workers and photo pipeline as without a cluster, over
/// a ledger of its own in `state/owned/`, which is emptied at every start.
struct Owner {
  private let ledger: Ledger
  private let beats: Beats
  private let partitions: Partitions
  private let signals: DaemonSignals
  private let photos: PhotoPipeline
  private let circuits: Circuits
  private let lease: Lease
  private let delivery: [any Service]

  static let directoryName = "owned"

  /// - Parameters:
  ///   - times: the durations of steps, which the daemon reports.
  init(
    spool: Spool, link: ClusterLink, plan: PlanInForce, times: StepTimes, troubles: Troubles, log: Logger
  ) async throws {
    let ledger = try Self.open(in: spool.state, log)
    try await ledger.emptyOwned()
    let (signals, lease) = (DaemonSignals(), Lease(times: link.times))
    (self.ledger, self.signals, self.lease) = (ledger, signals, lease)
    let files = RequestFiles(
      spool: spool, pool: BlockingPool(label: "owned", threads: 1), owned: OwnedFiles(link: link, ledger: ledger))
    let circuits = Circuits(ledger: ledger, settings: plan.delivery, dispatcher: signals.dispatcher, log: log)
    let photos = PhotoPipeline(
      ledger: ledger, files: files, plan: plan, circuits: circuits, times: times, sweeper: signals.sweeper, log: log)
    var worker = ConversationWorker(
      ledger: ledger, files: files, photos: photos, plan: plan, circuits: circuits, times: times, signals: signals,
      troubles: troubles, log: log)
    let gate = OwnerGate(link: link, lease: lease, ledger: ledger)
    worker.gate = gate
    (self.photos, self.circuits) = (photos, circuits)
    let dispatcher = Dispatcher(worker)
    let partitions = Partitions(
      link: link, lease: lease, ledger: ledger,
      work: Partitions.Work(
        ring: { signals.ringAll() },
        stop: { conversations, messages in
          for conversation in conversations { await dispatcher.stop(conversation) }
          try? await photos.discard(messages)
          signals.sweeper.ring()
        },
        changed: { changes in
          try? await photos.discard(changes.cancelled)
          if changes.isFlushed { await circuits.closeAll() }
        },
        left: { gate.forget($0) }), troubles: troubles, log: log)
    self.partitions = partitions
    beats = Beats(link: link, lease: lease, renewed: signals.dispatcher, troubles: troubles)
    let bytes = OwnedBytes(link: link, troubles: troubles)
    let ends = OwnedEnds(
      link: link, ledger: ledger, partitions: partitions, bytes: bytes, bell: signals.filing, troubles: troubles,
      log: log)
    let sweeper = Sweeper(ledger: ledger, plan: plan, log: log, bell: signals.sweeper)
    delivery = [bytes, ends, sweeper, circuits, dispatcher]
  }

  /// In the order of their making; they stop in the reverse order: first nothing new is taken, then work in progress ends.
  var services: [any Service] { [beats] + delivery + [partitions] }

  /// For metrics.
  func state() async -> (partitions: Int, hasLease: Bool) { (await partitions.count, lease.isValid) }

  /// Follows a new configuration: what waits is tried now.
  func follow() async throws {
    photos.followPlan()
    await circuits.closeAll()
    _ = try await ledger.flush(at: .now())
    signals.ringAll()
  }

  /// Gives everything up, after all services have stopped.
  func close() async throws {
    await partitions.releaseAll()
    try ledger.close()
  }

  /// Nothing was synced, so a power cut may have damaged it.
  private static func open(in state: Directory, _ log: Logger) throws -> Ledger {
    func open() throws -> Ledger {
      try Ledger(in: state.directory(creating: directoryName), isDisposable: true)
    }
    do { return try open() } catch let error as LedgerError {
      log.warning("the owner's ledger is made anew", metadata: ["error": "\(error)"])
      try state.removeTree(directoryName)
      return try open()
    }
  }
}
