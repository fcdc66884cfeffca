import Blocking
import DurableFiles
import Foundation
import Ledgers
import Logging
import Messages
import ServiceLifecycle
import Settings
import Signalling
import Spooling

/// Takes requests out of `new/`, in order of arrival, into the ledger. Nothing else reads `new/`.
///
/// A batch of requests shares one ledger transaction. Order for each batch (docs/durability.md): every file and request
/// directory is synced, then `new/`, or all of a crowd at once; the ledger's transaction is committed, and from here on the requests are accepted;
/// the directories are renamed into `cur/`. A rename that a crash prevents is made up for by whoever needs the
/// directory next.
actor Intake: Service {
  private let spool: Spool
  private let ledger: Ledger
  private let pool: BlockingPool
  private let watcher: SpoolWatcher
  private let mailbox: ArrivalMailbox
  private let plan: PlanInForce
  private let cancelRequests: @Sendable ([String]) async throws -> Void
  private let accepted: @Sendable ([Acceptance]) -> Void
  private let tellDrafts: @Sendable (SpoolEvent) -> Void
  private let closed: ClosedConversations
  private let wakePurger: @Sendable () -> Void
  private let isReady: @Sendable () -> Void
  private let tellCompanion: @Sendable (SpoolEvent) -> Void
  private let log: Logger
  private let troubles: Troubles
  /// The files of `cancel/` that were said to be unreadable.
  private var unreadableOrders = [String]()
  private let unconfirmed = UnconfirmedRequests()
  private let unmovable = UnmovableEntries()
  private let open = OpenRequests()
  private let isStopping = StopFlag()
  private var settling = SettlingEntries()
  /// Entries that have settled, for the next scan to take.
  private var settled: Set<String> = []
  private var jobs: [@Sendable () async -> Void] = []
  private var isWatching = false
  /// Whether there is no `new/`, and it is looked for.
  private var isNewGone = false
  /// What events tell next may have requests before it that no event told: at the start, and after names were taken from
  /// the mailbox and not accepted. Only a scan knows the order then.
  private var hasLostTrack = true

  /// Nothing is tried before, since what went wrong a moment ago does so again.
  private var restsUntil = ContinuousClock.now

  /// Seconds until it is tried again.
  private static let patience = 1.0
  private static let work = "requests are left in new/ for now"
  /// Names that are handed on together while a scan goes on.
  private static let batch = 256
  private var settings: Settings.Intake { plan.intake }
  /// Seconds that a complete request which may have been built in place is left alone: more than the steps of a script
  /// are apart, less than anybody notices.
  private static let moment = 0.25

  /// - Parameters:
  ///   - isReady: is called once nothing that arrives can be missed any more.
  ///   - cancelRequests: cancels the requests named in a file of `cancel/`.
  ///   - accepted: is called with requests that were accepted or refused.
  ///   - tellDrafts: is called with what concerns `draft/`.
  ///   - closed: conversations whose requests are passed over.
  ///   - wakePurger: is called when something may be ordered in `purge/`.
  ///   - tellCompanion: is called with what concerns `incoming/new/`.
  init(
    spool: Spool, ledger: Ledger, pool: BlockingPool, plan: PlanInForce, troubles: Troubles,
    log: Logger, isReady: @escaping @Sendable () -> Void,
    cancelRequests: @escaping @Sendable ([String]) async throws -> Void,
    accepted: @escaping @Sendable ([Acceptance]) -> Void,
    tellDrafts: @escaping @Sendable (SpoolEvent) -> Void, closed: ClosedConversations,
    wakePurger: @escaping @Sendable () -> Void,
    tellCompanion: @escaping @Sendable (SpoolEvent) -> Void
  ) throws {
    self.spool = spool
    self.ledger = ledger
    self.pool = pool
    self.plan = plan
    self.isReady = isReady
    self.log = log
    self.troubles = troubles
    self.cancelRequests = cancelRequests
    self.accepted = accepted
    self.tellDrafts = tellDrafts
    self.closed = closed
    self.wakePurger = wakePurger
    self.tellCompanion = tellCompanion
    let mailbox = ArrivalMailbox()
    self.mailbox = mailbox
    watcher = try SpoolWatcher(spool) { event in
      switch event {
      case .draftChanged, .draftBuiltInPlace: tellDrafts(event)
      case .purgeRequested: wakePurger()
      case .received, .receivedInPlace: tellCompanion(event)
      case .overflow:
        wakePurger()
        tellDrafts(event)
        tellCompanion(event)
        mailbox.post(event)
      default: mailbox.post(event)
      }
    }
  }

  func run() async throws {
    // Watch first, then scan: what arrives in between is told by both.
    isWatching = watcher.start()
    if !isWatching {
      let rescan = "new/ is looked into every \(Int(settings.rescan.seconds)) s"
      log.warning("the kernel gives no watch, or too many files were open before; \(rescan)")
    }
    // Said here, where signals are handled already and nothing that arrives can be missed any more.
    log.info("ready", metadata: ["spool": "\(spool.path)", "sqlite": "\(Ledger.sqliteVersion)"])
    isReady()
    let rescans = Task { [mailbox, plan, tellDrafts, wakePurger, tellCompanion] in
      while !Task.isCancelled {
        wakePurger()
        mailbox.post(.overflow)
        tellDrafts(.overflow)
        tellCompanion(.overflow)
        try await Task.sleep(for: plan.intake.rescan)
      }
    }
    await mailbox.bell.serve(stopping: { [isStopping] in isStopping.set() }) {
      await runJobs()
      if restsUntil > .now { return mailbox.bell.ring(in: (restsUntil - .now) / .seconds(1)) }
      defer {
        for time in [settling.nextDeadline, open.nextLook] {
          if let time { mailbox.bell.ring(in: (time - .now) / .seconds(1)) }
        }
      }
      try await handle(mailbox.take())
      troubles.end(Self.work)
    } failed: { error in
      troubles.tell(Self.work, error)
      // What later events name must not overtake them.
      hasLostTrack = true
      restsUntil = .now + .seconds(Self.patience)
      mailbox.post(.overflow)
      return nil
    }
    rescans.cancel()
    await runJobs()
    watcher.stop()
  }

  /// Looks into `new/` again: what was passed over may be accepted now.
  func lookAgain() {
    hasLostTrack = true
    mailbox.bell.ring()
  }

  /// Has `draft/` watched again after it was replaced.
  func watchDraftAgain() throws { try watcher.watchDraftAgain() }

  /// Runs `job` between two batches, when no request is half-way into the ledger.
  func betweenBatches(_ job: @escaping @Sendable () async -> Void) async {
    if isStopping.isSet { return await job() }
    await withCheckedContinuation { continuation in
      jobs.append {
        await job()
        continuation.resume()
      }
      mailbox.bell.ring()
    }
  }

  private func runJobs() async {
    let due = jobs
    jobs = []
    for job in due { await job() }
  }

  // MARK: What arrived

  private func handle(_ seen: ArrivalMailbox.Contents) async throws {
    if seen.hasVanished || (seen.needsScan && !isNewGone) { watchAgain() }
    for name in seen.builtInPlace { settling.add(name, in: spool.new, settle: settings.settle.seconds) }
    let isAnyDue = open.nextLook.map { $0 <= .now } ?? false
    if seen.needsScan || seen.hasVanished || hasLostTrack || isAnyDue {
      // Not after it: what is passed over meanwhile may have to be looked at again.
      hasLostTrack = false
      try await scan(after: seen)
    } else {
      let waiting = WaitingConversations(settling.conversations.union(open.conversations))
      try await accept(seen.arrived, except: waiting)
    }
    for entry in settling.takeSettled(in: spool.new) {
      if entry.wasBuiltInPlace {
        log.warning(
          "a request was built in new/ itself; build it in tmp/ and rename it into new/",
          metadata: ["request": "\(entry.name)"])
      }
      // The next scan takes it in its order, and what waited behind it.
      settled.insert(entry.name)
      mailbox.post(.overflow)
    }
    if seen.cancelRequested || seen.needsScan { try await readCancelRequests() }
  }

  /// Looks into `new/`. What no event named was there before all that events named.
  private func scan(after seen: ArrivalMailbox.Contents) async throws {
    let (scan, fence) = try await pool.run { [spool, watcher] in
      (try ArrivalScan(spool.new), Int(try watcher.fence()) ?? 0)
    }
    if isWatching, await !mailbox.pass(fence: fence, within: 1) {
      log.warning("the kernel tells nothing of new/; it is looked into every \(Int(settings.rescan.seconds)) s")
      isWatching = false
    }
    let meanwhile = mailbox.take()
    for name in meanwhile.builtInPlace { settling.add(name, in: spool.new, settle: settings.settle.seconds) }
    let told = Set(seen.arrived + meanwhile.arrived)
    if !scan.foreign.isEmpty {
      let inbox = plan.now.settings.inbox
      try await enter(pool.run { [spool] in try IntakeBatch(foreign: scan.foreign, in: spool, inbox: inbox) })
    }
    // Conversations in which an earlier request is not to be taken yet: what comes behind it waits, what came before it does not.
    let waiting = WaitingConversations()
    open.beginLook()
    var ready = [String]()
    for index in 0..<scan.count where !isStopping.isSet {
      let entry = scan[index]
      if told.contains(entry.name) { continue }
      // Requests that are set aside were renamed, or have settled before.
      let isSettled = settled.remove(entry.name) != nil || open.contains(entry.name)
      let settles =
        settling.contains(entry.name)
        || (entry.maybeInPlace && !isSettled && isStillBuilt(entry.name, changed: entry.changed))
      let held = settles ? .some(settling.conversation(waitingFor: entry.name)) : open.conversation(of: entry.name)
      if held == nil { ready.append(entry.name) }
      if held != nil || ready.count == Self.batch {
        try await accept(ready, except: waiting)
        ready = []
        await runJobs()
      }
      if let held { waiting.insert(held) }
    }
    try await accept(ready, except: waiting)
    try await accept(seen.arrived + meanwhile.arrived, except: waiting)
    open.endLook()
    settled = []
    if meanwhile.needsScan { mailbox.post(.overflow) }
    if meanwhile.cancelRequested { mailbox.post(.cancelRequested) }
    if meanwhile.hasVanished { mailbox.post(.vanished) }
  }

  /// Whether an entry that a scan found has to be left alone for now. Renaming leaves other times than making it in place
  /// does, but a filesystem's clock ticks slowly, so that a quick rename may look the same. What is complete is
  /// therefore only left alone for a moment, in which its conversation waits.
  private func isStillBuilt(_ name: String, changed: Int64) -> Bool {
    let age = Double(Timestamp.now().milliseconds) / 1000 - Double(changed) / 1e9
    guard age < settings.settle.seconds else { return false }
    guard let request = try? RequestReader(spool.new.directory(name), patience: 0).request else {
      settling.add(name, in: spool.new, settle: settings.settle.seconds)
      return true
    }
    guard age < Self.moment else { return false }
    settling.add(
      name, in: spool.new, settle: Self.moment,
      conversation: request.conversation(defaultInbox: plan.now.settings.inbox))
    return true
  }

  /// Where `new/` was moved away or removed, its place is watched again as soon as there is one. The kernel does not tell
  /// that a directory is gone which somebody has open, as we have.
  private func watchAgain() {
    do {
      let isAnother = try spool.reopenNew()
      isNewGone = false
      guard isAnother else { return }
      try watcher.watchNewAgain()
      log.warning("new/ was replaced; watching the one that is there now")
    } catch {
      log.error("new/ is gone; make it again", metadata: ["error": "\(error)"])
      isNewGone = true
      mailbox.post(.vanished, in: 5)
    }
  }

  private func readCancelRequests() async throws {
    let orders = CancelOrders(spool)
    let (found, unreadable) = try await pool.run { try orders.read() }
    if unreadable != unreadableOrders {
      for file in unreadable { log.warning("a file of cancel/ is passed over", metadata: ["file": "\(file)"]) }
      unreadableOrders = unreadable
    }
    for order in found {
      try await cancelRequests(order.requests)
      try orders.remove(order)
    }
  }

  // MARK: Accepting

  /// Accepts the named requests in this order. Names that are gone are passed over.
  ///
  /// - Parameter waiting: conversations whose requests are passed over; a later scan finds them.
  private func accept(_ names: [String], except waiting: WaitingConversations) async throws {
    if !names.isEmpty, try spool.state.freeBytes() < Reserve.bytes { throw SpoolError.full(spool.path) }
    // One that was moved away and back again is in hand once: else it might be read again before it is moved.
    var seen = Set<String>()
    var left = names.filter { seen.insert($0).inserted }[...]
    while !left.isEmpty, !isStopping.isSet {
      let batch = try await pool.run { [spool, plan, closed, unconfirmed, unmovable, open, left] in
        try IntakeBatch(
          left, in: spool, inbox: plan.now.settings.inbox, waiting: waiting, closed: closed.all,
          unconfirmed: unconfirmed, unmovable: unmovable, open: open)
      }
      try await enter(batch)
      left = left.dropFirst(batch.taken)
      // Before more is read: a job may close a conversation.
      if !left.isEmpty { await runJobs() }
    }
  }

  /// Enters what was read into the ledger, and moves it into `cur/`.
  private func enter(_ batch: IntakeBatch) async throws {
    if batch.requests.isEmpty { return }
    let acceptances = try await ledger.accept(
      batch.requests, at: .now(), isTaken: { [spool] in batch.isTaken($0, in: spool) },
      alternative: { RequestName.alternative(of: $0, $1) })
    var fault: (any Error)?
    do {
      try await pool.run { [spool] in
        for (request, acceptance) in zip(batch.requests, acceptances) where acceptance.state != .failed {
          let identity = RequestIdentity(inode: request.inode, born: request.born)
          do { _ = try spool.bringIn(identity, droppedAs: request.droppedAs, as: acceptance.request) } catch let error
            as FileError where error.isForbidden
          {
            // Its owner has just seen to that. It fails when its turn comes, and others go on.
          }
        }
      }
    } catch { fault = error }
    for request in batch.outOfReach { unmovable.add(request.identity, changed: request.changed) }
    // They are accepted all the same, and whoever sends one moves it first.
    for (acceptance, request) in zip(acceptances, batch.requests) { log.tell(acceptance, of: request) }
    accepted(acceptances)
    if let fault { throw fault }
  }
}
