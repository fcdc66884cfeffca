import Blocking
import DurableFiles
import Ledgers
import Logging
import ServiceLifecycle
import Signalling
import Spooling

/// The part of a cluster's host that publishes: the same dispatcher, workers and photo pipeline as without a cluster, over
/// a ledger of its own in `state/owned/`, which is emptied at every start.
struct Owner: HasCore {
  let core: DeliveryCore
  private let beats: Beats
  private let partitions: Partitions
  private let worker: ConversationWorker
  private let lease: Lease
  private let delivery: [any Service]

  static let directoryName = "owned"

  /// - Parameter daemon: the core of this host's own requests.
  init(beside daemon: DeliveryCore, link: ClusterLink) async throws {
    let ledger = try Self.open(in: daemon.spool.state, daemon.log)
    try await ledger.emptyOwned()
    let core = DeliveryCore(
      spool: daemon.spool, ledger: ledger, plan: daemon.plan, times: daemon.times, troubles: daemon.troubles,
      log: daemon.log)
    let lease = Lease(times: link.times)
    (self.core, self.lease) = (core, lease)
    let files = RequestFiles(
      spool: core.spool, pool: BlockingPool(label: "owned", threads: 1), owned: OwnedFiles(link: link, ledger: ledger))
    let circuits = Circuits(core)
    let photos = PhotoPipeline(core, files: files, circuits: circuits)
    var worker = ConversationWorker(core: core, files: files, photos: photos, circuits: circuits)
    worker.gate = OwnerGate(link: link, lease: lease, ledger: ledger)
    self.worker = worker
    let dispatcher = Dispatcher(worker)
    partitions = Partitions(link: link, lease: lease, dispatcher: dispatcher)
    beats = Beats(core: core, link: link, lease: lease)
    let bytes = OwnedBytes(link: link, troubles: core.troubles)
    let ends = OwnedEnds(core: core, link: link, partitions: partitions, bytes: bytes)
    delivery = [bytes, ends, Sweeper(core: core), circuits, dispatcher]
  }

  /// In the order of their making; they stop in the reverse order: first nothing new is taken, then work in progress ends.
  var services: [any Service] { [beats] + delivery + [partitions] }

  /// For metrics.
  func state() async -> (partitions: Int, hasLease: Bool) { (await partitions.count, lease.isValid) }

  /// Follows a new configuration: what waits is tried now.
  func follow() async throws {
    worker.photos.followPlan()
    await worker.circuits.closeAll()
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
