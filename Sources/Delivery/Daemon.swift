import Blocking
import DurableFiles
import Foundation
import Hooks
import Janitor
import Ledgers
import Logging
import Messages
import Networks
import Photos
import ServiceLifecycle
import Signalling
import Spooling
import Supervision
import UnixSignals

/// The whole delivery of one spool: its services, and the order in which they stop.
public struct Daemon: Sendable {
  private let spool: Spool
  private let ledger: Ledger
  private let isChecked: Bool
  private let lock: FileLock
  private let intake: Intake
  private let dispatcher: Dispatcher
  private let filing: Filing
  private let sweeper: Sweeper
  private let circuits: Circuits
  private let plan: PlanInForce
  private let photos: PhotoPipeline
  private let reports: Reports
  private let reloads: ReloadOutcome
  private let manager: ServiceManager?
  private let wake: @Sendable () -> Void
  private let drafts: Drafts
  private let purger: Purger
  private let companion: Companion?
  private let hooks: HookLine?
  private let commands: CommandHandler
  private let log: Logger

  /// Takes the spool for this process and sets back what a dead one left in hand.
  ///
  /// - Parameters:
  ///   - manager: is told how the daemon is.
  ///   - hooks: tells programs of requests that are over.
  ///   - makeCompanion: makes what runs beside delivery on the same ledger.
  ///   - ledgerFailed: is called, on any thread, when the ledger can be written no more; it has to end the process, without
  ///     closing anything. What is in hand is as after a kill.
  /// - Throws: `SpoolError.busy` when another daemon runs on the spool; `LedgerError`; `FileError`.
  public init(
    spool: Spool, plan first: DeliveryPlan, manager: ServiceManager? = nil, hooks: HookLine? = nil, log: Logger,
    companion makeCompanion: (Ledger) throws -> Companion? = { _ in nil },
    ledgerFailed: @escaping @Sendable (LedgerError) -> Void = { _ in }
  ) async throws {
    lock = try Self.takeSpool(spool)
    let startedAt = Timestamp.now()
    let plan = PlanInForce(first)
    let times = StepTimes()
    let reloads = ReloadOutcome(at: startedAt)
    let troubles = Troubles(log: log)
    let ledger = try Ledger(of: spool, isClaimed: true)
    try await ledger.settle()
    // A large one is looked through beside the work: `LedgerCheck`.
    isChecked = try await ledger.bytes() <= Ledger.soonChecked
    if isChecked { try await ledger.checkIntegrity() }
    try await ledger.check(against: spool)
    ledger.onFailure { error in
      log.critical("the ledger failed; stopping at once", metadata: ["error": "\(error)"])
      ledgerFailed(error)
    }
    let companion = try makeCompanion(ledger)
    self.companion = companion
    let files = RequestFiles(spool: spool, pool: BlockingPool(label: "files", threads: 4))
    let dispatcherBell = Bell()
    let circuits = Circuits(ledger: ledger, policy: CircuitPolicy(plan.delivery), log: log) { dispatcherBell.ring() }
    let sweeper = Sweeper(ledger: ledger, plan: plan, log: log)
    let photos = PhotoPipeline(
      ledger: ledger, files: files, plan: plan, circuits: circuits, times: times, log: log,
      wakeSweeper: { sweeper.wake() })
    let filing = Filing(
      ledger: ledger, spool: spool, pool: BlockingPool(label: "filing", threads: 8), troubles: troubles,
      log: log, rescan: { plan.intake.rescan.seconds }
    ) { hooks?.tell(ended: $0) }
    let timeout = BatchTimeout()
    let dispatcher = Dispatcher(
      ledger: ledger, photos: photos, plan: plan, bell: dispatcherBell, troubles: troubles, log: log
    ) {
      conversation, isStopping in
      ConversationWorker(
        conversation: conversation, ledger: ledger, files: files, photos: photos, plan: plan, circuits: circuits,
        times: times, timeout: timeout, filing: filing, sweeper: sweeper, troubles: troubles, log: log,
        isStopping: isStopping
      )
    }
    let intakeBox = LateIntake()
    let closed = ClosedConversations()
    let drafts = Drafts(
      spool: spool, ledger: ledger, pool: BlockingPool(label: "drafts", threads: 1), photos: photos,
      circuits: circuits, plan: plan, closed: closed, troubles: troubles, log: log, wakeSweeper: { sweeper.wake() },
      watchAgain: { try await intakeBox.watchDraftAgain() })
    let wake = { @Sendable in
      dispatcher.wake()
      filing.wake()
      sweeper.wake()
      drafts.wake()
      companion?.wake()
    }
    let metrics = DaemonMetrics(
      startedAt: startedAt, plan: plan, circuits: circuits, times: times, reloads: reloads, hooks: hooks)
    let reports = Reports(ledger: ledger, plan: plan, metrics: metrics, manager: manager, log: log)
    let commands = CommandHandler(
      spool: spool, ledger: ledger,
      hooks: CommandHandler.Hooks(
        discard: { try await photos.discard($0) },
        betweenBatches: { await intakeBox.betweenBatches($0) },
        closeCircuits: {
          await circuits.closeAll()
          await companion?.hurry()
        }, wake: wake,
        progress: { photos.progress.merging(companion?.progress() ?? [:]) { $1 } }, trouble: { troubles.current },
        metrics: {
          // Whoever asks may have changed the ledger, as the janitor does.
          reports.wake()
          return (await metrics.families() + (companion?.metrics() ?? [])).map(\.text).joined()
        },
        listening: { await companion?.report() ?? [] }))
    let purge = Purge(
      spool: spool, ledger: ledger, publishedNames: { plan.destinations.localNames(of: $0) },
      objects: { try ObjectDirectories(plan.destinations.objectDirectories) })
    let purger = Purger(
      purge: purge, spool: spool, closed: closed,
      hooks: Purger.Hooks(
        alone: { job in await intakeBox.betweenBatches { await drafts.betweenLooks(job) } },
        stop: { purged in
          await dispatcher.stop(purged.row)
          await companion?.release(purged.conversation)
          try await photos.discard(purged.messages)
          try await filing.settle()
        },
        done: {
          wake()
          drafts.post(.overflow)
          companion?.post(.overflow)
          await intakeBox.lookAgain()
        }), log: log)
    intake = try Intake(
      spool: spool, ledger: ledger, pool: BlockingPool(label: "intake", threads: 2), plan: plan, troubles: troubles,
      log: log,
      isReady: { manager?.ready("Requests are being taken.") },
      cancelRequests: { names in await commands.cancelFromFile(names, log: log) },
      accepted: { requests in
        drafts.erase(requests.flatMap(\.superseded))
        dispatcher.wake()
        // Each of these asks the ledger something, and most requests concern none of them.
        if requests.contains(where: { $0.state != .queued }) { filing.wake() }
        if requests.contains(where: \.wasDraft) {
          drafts.wake()
          sweeper.wake()
        }
      }, tellDrafts: { drafts.post($0) }, closed: closed,
      wakePurger: { purger.wake() },
      tellCompanion: { companion?.post($0) })
    await intakeBox.set(intake)
    self.spool = spool
    self.ledger = ledger
    self.dispatcher = dispatcher
    self.filing = filing
    self.sweeper = sweeper
    self.circuits = circuits
    self.plan = plan
    self.photos = photos
    self.hooks = hooks
    self.reloads = reloads
    self.manager = manager
    self.wake = wake
    self.reports = reports
    self.drafts = drafts
    self.commands = commands
    self.purger = purger
    self.log = log
    let count = try await ledger.recover(at: .now())
    if count > 0 { log.info("messages that were in hand start again", metadata: ["count": "\(count)"]) }
    do { try spool.state.removeTree(TrashedRequest.directoryName) } catch {
      log.warning("requests that were taken back are left in state/trash", metadata: ["error": "\(error)"])
    }
    do { try await files.eraseSupersededProfiles(ledger) } catch {
      log.warning("an earlier profile photo stays in the cache for now", metadata: ["error": "\(error)"])
    }
    for store in first.destinations.stores { try store.removeLeftovers() }
    Reserve(spool).take()
    // Before anything comes in. Nothing is in hand yet.
    _ = await Purger(purge: purge, spool: spool, closed: closed, hooks: Purger.Hooks(), log: log).carryOut()
  }

  /// Runs until the task is asked to shut down gracefully. Services stop in the reverse order of this list: first
  /// nothing new comes in, then what is in hand is finished or parked.
  ///
  /// - Parameters:
  ///   - signals: those that end it.
  ///   - reloads: each of these has `read` read the configuration again, which is then in force. When that throws, all
  ///     stays as it was.
  ///   - overdue: is called, on a thread of its own, when stopping takes longer than it may; it has to end the process,
  ///     without closing anything. What is in hand is as after a kill.
  public func run(
    signals: [UnixSignal], reloads: UnixSignalsSequence? = nil, overdue: @escaping @Sendable () -> Void = {},
    read: @escaping @Sendable () throws -> Reconfiguration = { throw CancellationError() }
  ) async throws {
    let control = ControlService(state: spool.state, commands: commands, log: log)
    let reload = reload(on: reloads, read)
    let watchdog = Watchdog(
      manager: manager,
      answers: [
        { [intake] in await intake.betweenBatches {} }, { [dispatcher] in await dispatcher.answers() },
        { [ledger] in try await ledger.answers() },
      ])
    // Below a warning it tells how services are made inside, which concerns nobody.
    var groupLog = log
    groupLog.logLevel = .warning
    // What is not finished by then is set back at the next start; systemd and people wait 5 s.
    let stopSeconds = plan.now.stopSeconds
    // A program or co-process may take 1 s more, and the ledger has to be closed.
    let deadline = StopDeadline(manager: manager, seconds: stopSeconds.map { $0 + 6.5 }, log: log, overdue: overdue)
    let check = isChecked ? nil : LedgerCheck(ledger: ledger, log: log)
    let before: [(any Service)?] = [
      check, reports, hooks, filing, sweeper, circuits, dispatcher, drafts,
    ]
    let after: [(any Service)?] = [intake, purger, control, reload, watchdog, deadline]
    var configuration = ServiceGroupConfiguration(
      services: before.compactMap(\.self) + (companion?.services ?? []) + after.compactMap(\.self),
      gracefulShutdownSignals: signals, logger: groupLog)
    configuration.maximumGracefulShutdownDuration = stopSeconds.map { .seconds($0) }
    try await ServiceGroup(configuration: configuration).run()
    for network in plan.destinations.networks { await network.stop() }
    try ledger.close()
    log.info("stopped")
  }

  func reload(
    on signals: UnixSignalsSequence?, _ read: @escaping @Sendable () throws -> Reconfiguration
  ) -> Reload {
    Reload(
      plan: plan, ledger: ledger, photos: photos, circuits: circuits, outcome: reloads, manager: manager,
      wake: { [wake, reports] in
        wake()
        reports.wake()
      }, log: log, signals: signals, read: read)
  }

  /// The handler for a command that runs while no daemon does; nil when one does after all.
  public static func withoutDaemon<Result: Sendable>(
    _ spool: Spool, _ body: (CommandHandler) async throws -> Result
  ) async throws -> Result {
    guard let lock = try spool.claim(briefly: true, patience: 30) else { throw SpoolError.busy(spool.path) }
    defer { lock.release() }
    let ledger = try Ledger(of: spool, isClaimed: true)
    try await ledger.settle()
    let result = try await body(CommandHandler(spool: spool, ledger: ledger, hooks: CommandHandler.Hooks()))
    try ledger.close()
    return result
  }

  private static func takeSpool(_ spool: Spool) throws -> FileLock {
    guard let lock = try spool.claim(briefly: false, patience: 30) else { throw SpoolError.busy(spool.path) }
    return lock
  }
}

/// Intake needs the command handler, and that needs intake; this is where the circle is closed.
private actor LateIntake {
  private var intake: Intake?
  func set(_ intake: Intake) { self.intake = intake }
  func betweenBatches(_ job: @escaping @Sendable () async -> Void) async {
    if let intake { await intake.betweenBatches(job) } else { await job() }
  }
  func lookAgain() async { await intake?.lookAgain() }
  func watchDraftAgain() async throws { try await intake?.watchDraftAgain() }
}
