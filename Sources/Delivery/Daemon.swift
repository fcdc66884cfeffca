import Blocking
import Control
import DurableFiles
import Hooks
import Janitor
import Ledgers
import Logging
import MailIntake
import Messages
import Networks
import ServiceLifecycle
import Signalling
import Spooling
import Supervision
import UnixSignals

/// The delivery of one spool: its services, and the order in which they stop.
package struct Daemon: Sendable, HasCore {
  let core: DeliveryCore
  private let lock: FileLock
  private let circuits: Circuits
  private let photos: PhotoPipeline
  private let reports: Reports
  private let reloads: InForce<ReloadOutcome>
  private let manager: ServiceManager?
  /// Publishes for the hosts of a cluster, if this is one of them.
  private let owner: Owner?
  /// The services in the order of their making. They stop in the reverse order.
  private let services: [any Service]

  /// Claims the spool for this process and resets work that a crashed process left in progress.
  ///
  /// - Parameters:
  ///   - manager: gets notifications of the daemon's state.
  ///   - hooks: run for finished requests.
  ///   - mail: makes requests of mails, if any are taken.
  ///   - cluster: the cluster that this host belongs to, if any.
  ///   - check: tests the destinations of the plan in force, without sending, each with a subject and a sentence. It ends
  ///     soon after a cancellation.
  ///   - checkSpool: checks the spool and this computer, each with a subject and a sentence.
  ///   - makeReceiving: makes the receiving services, which read the mailbox of `incoming/new/`.
  ///   - ledgerFailed: called on any thread when the ledger can no longer be written. It must end the process without
  ///     closing anything, as after a kill.
  /// - Throws: `SpoolError.busy` if another daemon runs on the spool; `LedgerError`; `FileError`.
  package init(
    spool: Spool, plan first: DeliveryPlan, manager: ServiceManager? = nil, hooks: HookLine? = nil,
    mail: MailRoom? = nil, cluster link: ClusterLink? = nil, log: Logger,
    check: @escaping @Sendable () async -> [ControlReply.Outcome] = { [] },
    checkSpool: @escaping @Sendable () async throws -> [ControlReply.Outcome] = { [] },
    receiving makeReceiving: (Ledger, Mailbox) throws -> PhotoReceiving? = { _, _ in nil },
    ledgerFailed: @escaping @Sendable (LedgerError) -> Void = { _ in }
  ) async throws {
    self.manager = manager
    lock = try Self.claim(spool, briefly: false)
    let startedAt = Timestamp.now()
    let (ledger, isChecked) = try await Self.openLedger(of: spool, log, failed: ledgerFailed)
    let core = DeliveryCore(
      spool: spool, ledger: ledger, plan: PlanInForce(first), times: StepTimes(), troubles: Troubles(log: log), log: log
    )
    let (plan, signals, closed) = (core.plan, core.signals, ClosedConversations([]))
    (self.core, reloads) = (core, InForce(ReloadOutcome(isGood: true, at: startedAt)))
    let watcher = try SpoolWatcher(spool, signals.spool, mail: mail?.mailbox)
    let receiving = try makeReceiving(ledger, signals.spool.incoming)
    let files = RequestFiles(spool: spool, pool: BlockingPool(label: "files", threads: 4))
    circuits = Circuits(core)
    photos = PhotoPipeline(core, files: files, circuits: circuits)
    let filing = Filing(core: core, pool: BlockingPool(label: "filing", threads: 8), hooks: hooks)
    var worker = ConversationWorker(core: core, files: files, photos: photos, circuits: circuits)
    if let link {
      worker.relay = Relay(
        core: core, link: link, files: files, photos: PhotoRelay(core: core, link: link, files: files),
        circuits: circuits)
      owner = try await Owner(beside: core, link: link)
    } else {
      owner = nil
    }
    let dispatcher = Dispatcher(worker)
    let receipts = link.map { ClusterReceipts(core: core, link: $0) }
    let orders = link.map { ClusterOrders(link: $0, ledger: ledger) }
    let drafts = DraftService(
      core, pool: BlockingPool(label: "drafts", threads: 1), photos: photos, circuits: circuits, closed: closed,
      watcher: watcher, uploadsAhead: link == nil)
    let intake = Intake(
      core, pool: BlockingPool(label: "intake", threads: 2), watcher: watcher, photos: photos, closed: closed,
      manager: manager)
    let purger = Purger(
      core: core, purge: Self.purge(core, mail), closed: closed, dispatcher: dispatcher, photos: photos, filing: filing,
      receiving: receiving, cluster: orders)
    reports = Reports(
      core: core, startedAt: startedAt, circuits: circuits, reloads: reloads, hooks: hooks, mail: mail, owner: owner,
      manager: manager)
    let clearer = Clearer(clearing: CacheClearing(spool: spool, ledger: ledger))
    let checks = CheckRounds(check)
    let commands = CommandHandler(
      spool: spool, ledger: ledger, signals: signals,
      work: CommandHandler.Work(
        photos: photos, circuits: circuits, receiving: receiving, troubles: core.troubles, reports: reports,
        closed: closed, clearer: clearer, checks: checks, checkSpool: checkSpool, plan: plan, cluster: orders))
    let ledgerCheck: LedgerCheck? = isChecked ? nil : LedgerCheck(ledger: ledger, log: log)
    let delivery: [(any Service)?] = [
      ledgerCheck, reports, hooks, filing, Sweeper(core: core), circuits, dispatcher, drafts,
    ]
    // They read from the cluster how this host's requests ended.
    let relayed: [(any Service)?] = [receipts, receipts.map { LostRequests(receipts: $0) }]
    let commanded: [(any Service)?] = [
      intake, mail, purger, clearer, checks, CancelOrderService(core: core, commands: commands),
      ControlService(state: spool.state, commands: commands, log: log),
    ]
    services =
      delivery.compactMap(\.self) + (owner?.services ?? []) + relayed.compactMap(\.self)
      + (receiving?.services ?? []) + commanded.compactMap(\.self)
    try await recover(files)
    // Before anything arrives or is in progress.
    _ = await purger.carryOut()
  }

  private static func purge(_ core: DeliveryCore, _ mail: MailRoom?) -> PurgeRun {
    let plan = core.plan
    return PurgeRun(
      spool: core.spool, ledger: core.ledger, publishedNames: { plan.destinations.publishedNames($0) },
      objects: { try ObjectDirectories(plan.destinations.objectDirectories) },
      takeMails: { try await mail?.empty() })
  }

  /// Opens and checks the ledger. Returns the ledger, and whether all of it was checked; `LedgerCheck` checks a large
  /// one during work.
  private static func openLedger(
    of spool: Spool, _ log: Logger, failed: @escaping @Sendable (LedgerError) -> Void
  ) async throws -> (ledger: Ledger, isChecked: Bool) {
    let ledger = try Ledger(of: spool, isClaimed: true)
    try await ledger.settle()
    let isChecked = try await ledger.bytes() <= Ledger.soonChecked
    if isChecked { try await ledger.checkIntegrity() }
    try await ledger.check(against: spool)
    ledger.onFailure { error in
      log.critical("the ledger failed; stopping at once", metadata: ["error": "\(error)"])
      failed(error)
    }
    return (ledger, isChecked)
  }

  /// Resets what an earlier process left in progress, and removes its leftovers.
  private func recover(_ files: RequestFiles) async throws {
    let count = try await ledger.recover(at: .now())
    if count > 0 { log.info("messages that were in progress start again", metadata: ["count": "\(count)"]) }
    do { try Trash(spool).empty() } catch {
      log.warning("requests that were taken back are left in state/trash", metadata: ["error": "\(error)"])
    }
    do { try await files.eraseSupersededProfiles(ledger) } catch {
      log.warning("an earlier profile photo stays in the cache for now", metadata: ["error": "\(error)"])
    }
    for store in plan.destinations.stores { try store.removeLeftovers() }
    Reserve(spool).take()
  }

  /// Runs until the task is asked to shut down. Services stop in the reverse order of their list: first nothing new
  /// comes in, then work in progress is finished or parked.
  ///
  /// - Parameters:
  ///   - endings: signals that end it.
  ///   - reloads: for each of these, `read` reads the new configuration. If it throws, nothing changes.
  ///   - overdue: called on its own thread if stopping takes too long. It must end the process without closing
  ///     anything, as after a kill.
  package func run(
    signals endings: [UnixSignal], reloads: UnixSignalsSequence? = nil,
    overdue: @escaping @Sendable () -> Void = {},
    read: @escaping @Sendable () throws -> Reconfiguration = { throw CancellationError() }
  ) async throws {
    // A child process has the lock's descriptor until it executes its program, so closing ours would not be enough.
    defer { lock.release() }
    let watchdog = Watchdog(
      manager: manager,
      answers: [
        { [signals] in await signals.spool.new.bell.answers() }, { [signals] in await signals.dispatcher.answers() },
        { [ledger] in try await ledger.answers() },
      ])
    // Below warnings, it logs how services are made.
    var groupLog = log
    groupLog.logLevel = .warning
    // The next start resets what is unfinished by then; systemd and people wait 5 s.
    let stopSeconds = plan.now.stopSeconds
    // A program or co-process may take 1 s more, and the ledger must be closed.
    let deadline = StopDeadline(manager: manager, seconds: stopSeconds.map { $0 + 6.5 }, log: log, overdue: overdue)
    let reload = Reload(
      core: core, photos: photos, circuits: circuits, outcome: self.reloads, manager: manager, reports: reports,
      owner: owner, orders: reloads, read: read)
    var configuration = ServiceGroupConfiguration(
      services: services + [reload, watchdog, deadline], gracefulShutdownSignals: endings, logger: groupLog)
    configuration.maximumGracefulShutdownDuration = stopSeconds.map { .seconds($0) }
    defer { deadline.hasStopped.set() }
    try await ServiceGroup(configuration: configuration).run()
    for configured in plan.destinations.networks { await configured.network.stop() }
    try await owner?.close()
    try ledger.close()
    log.info("stopped")
  }

  /// Runs `body` with the handler for a command without a daemon.
  ///
  /// - Throws: `SpoolError.busy` if one runs after all.
  package static func withoutDaemon<Result: Sendable>(
    _ spool: Spool, _ body: (CommandHandler) async throws -> Result
  ) async throws -> Result {
    let lock = try claim(spool, briefly: true)
    defer { lock.release() }
    let ledger = try Ledger(of: spool, isClaimed: true)
    try await ledger.settle()
    let result = try await body(CommandHandler(spool: spool, ledger: ledger))
    try ledger.close()
    return result
  }

  private static func claim(_ spool: Spool, briefly: Bool) throws -> FileLock {
    guard let lock = try spool.claim(briefly: briefly, patience: 30) else { throw SpoolError.busy(spool.path) }
    return lock
  }
}
