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
import Supervision

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
  private let signals: DaemonSignals
  private let photos: PhotoPipeline
  private let plan: PlanInForce
  private let closed: ClosedConversations
  private let manager: ServiceManager?
  private let log: Logger
  private let troubles: Troubles
  private let unconfirmed = UnconfirmedRequests()
  private let unmovable = UnmovableEntries()
  private let open = OpenRequests()
  private let isStopping = StopFlag()
  private var settling = SettlingEntries()
  /// Entries that have settled, for the next scan to take.
  private var settled: Set<String> = []
  private var askers: [CheckedContinuation<Void, Never>] = []
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
  private var mailbox: Mailbox { signals.spool.new }
  /// Seconds that a complete request which may have been built in place is left alone: more than the steps of a script
  /// are apart, less than anybody notices.
  private static let moment = 0.25

  /// - Parameters:
  ///   - photos: erases photos that a request replaces.
  ///   - closed: conversations whose requests are passed over.
  ///   - manager: is told once nothing that arrives can be missed any more.
  init(
    spool: Spool, ledger: Ledger, pool: BlockingPool, plan: PlanInForce, watcher: SpoolWatcher, signals: DaemonSignals,
    photos: PhotoPipeline, closed: ClosedConversations, manager: ServiceManager?, troubles: Troubles, log: Logger
  ) {
    self.spool = spool
    self.ledger = ledger
    self.pool = pool
    self.plan = plan
    self.watcher = watcher
    self.signals = signals
    self.photos = photos
    self.closed = closed
    self.manager = manager
    self.troubles = troubles
    self.log = log
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
    manager?.ready("Requests are being taken.")
    let rescans = Task { [signals, plan] in
      while !Task.isCancelled {
        signals.spool.scanAll()
        try await Task.sleep(for: plan.intake.rescan)
      }
    }
    await mailbox.bell.serve(stopping: { [isStopping] in isStopping.set() }) {
      answerAskers()
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
      // Requests of later events must not overtake them.
      hasLostTrack = true
      restsUntil = .now + .seconds(Self.patience)
      mailbox.postScan()
      return nil
    }
    isStopping.set()
    answerAskers()
    rescans.cancel()
    watcher.stop()
  }

  /// Returns as soon as the loop has got on: with its next ring, or its next batch.
  func answers() async {
    if isStopping.isSet { return }
    await withCheckedContinuation { asker in
      askers.append(asker)
      mailbox.bell.ring()
    }
  }

  private func answerAskers() {
    let due = askers
    askers = []
    for asker in due { asker.resume() }
  }

  // MARK: What arrived

  private func handle(_ seen: Mailbox.Contents) async throws {
    if seen.hasVanished || (seen.needsScan && !isNewGone) { watchAgain() }
    for name in seen.builtInPlace { settling.add(name, in: spool.new, settle: settings.settle.seconds) }
    let isAnyDue = open.nextLook.map { $0 <= .now } ?? false
    if seen.needsScan || seen.hasVanished || hasLostTrack || isAnyDue {
      // Not after it: what is passed over meanwhile may have to be looked at again.
      hasLostTrack = false
      try await scan(after: seen)
    } else {
      let waiting = WaitingConversations(settling.conversations.union(open.conversations))
      try await accept(seen.names, except: waiting)
    }
    for entry in settling.takeSettled(in: spool.new) {
      if entry.wasBuiltInPlace {
        log.warning(
          "a request was built in new/ itself; build it in tmp/ and rename it into new/",
          metadata: ["request": "\(entry.name)"])
      }
      // The next scan takes it in its order, and what waited behind it.
      settled.insert(entry.name)
      mailbox.postScan()
    }
  }

  /// Looks into `new/`. What no event named was there before all that events named.
  private func scan(after seen: Mailbox.Contents) async throws {
    let (scan, fence) = try await pool.run { [spool, watcher] in
      (try ArrivalScan(spool.new), try watcher.fence())
    }
    if isWatching, await !watcher.pass(fence: fence, within: 1) {
      log.warning("the kernel tells nothing of new/; it is looked into every \(Int(settings.rescan.seconds)) s")
      isWatching = false
    }
    let meanwhile = mailbox.take()
    for name in meanwhile.builtInPlace { settling.add(name, in: spool.new, settle: settings.settle.seconds) }
    // Where events were lost meanwhile, only a scan knows the order.
    let told = meanwhile.hasLoss ? [] : Set(seen.names + meanwhile.names)
    if !scan.foreign.isEmpty {
      let inbox = plan.now.settings.inbox
      let batch = try await pool.run { [spool] in try IntakeBatch(foreign: scan.foreign, in: spool, inbox: inbox) }
      try await signals.new.withLock { try await self.enter(batch) }
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
      }
      if let held { waiting.insert(held) }
    }
    try await accept(ready, except: waiting)
    if meanwhile.hasLoss {
      hasLostTrack = true
    } else {
      try await accept(seen.names + meanwhile.names, except: waiting)
    }
    open.endLook()
    settled = []
    if meanwhile.needsScan { mailbox.postScan() }
    if meanwhile.hasVanished { mailbox.postVanished() }
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
      mailbox.later(5) { $0.postVanished() }
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
    var rest = names.filter { seen.insert($0).inserted }[...]
    while !rest.isEmpty, !isStopping.isSet {
      let batch = rest
      answerAskers()
      // Commands that change new/ get their turn between two batches.
      let taken = try await signals.new.withLock { try await self.acceptBatch(of: batch, except: waiting) }
      rest = rest.dropFirst(taken)
    }
  }

  /// - Returns: how many of the names were taken.
  private func acceptBatch(of names: ArraySlice<String>, except waiting: WaitingConversations) async throws -> Int {
    if isStopping.isSet { return names.count }
    // Requests that are passed over during a purge of their conversation come before those that arrive later.
    if !closed.all.isEmpty { hasLostTrack = true }
    let batch = try await pool.run { [spool, plan, closed, unconfirmed, unmovable, open] in
      try IntakeBatch(
        names, in: spool, inbox: plan.now.settings.inbox, waiting: waiting, closed: closed.all,
        unconfirmed: unconfirmed, unmovable: unmovable, open: open)
    }
    try await enter(batch)
    return batch.taken
  }

  /// Enters what was read into the ledger, and moves it into `cur/`.
  private func enter(_ batch: IntakeBatch) async throws {
    if batch.requests.isEmpty { return }
    let acceptances = try await ledger.accept(
      batch.requests, at: .now(), isTaken: { [spool] in batch.isTaken($0, in: spool) },
      alternative: { RequestName.alternative(of: $0, $1) },
      isStillThere: { [spool] new in
        // Others cannot be sent, so that nobody but their client moves them.
        guard RequestName(new.droppedAs) != nil else { return true }
        let entry = try? spool.new.entry(new.droppedAs)
        return entry.map { RequestIdentity($0) == RequestIdentity(inode: new.inode, born: new.born) } ?? false
      })
    var fault: (any Error)?
    do {
      try await pool.run { [spool] in
        for (request, acceptance) in zip(batch.requests, acceptances)
        where acceptance.state == .queued || acceptance.state != .failed && !acceptance.wasKnown {
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
    tell(acceptances)
    if let fault { throw fault }
  }

  /// Signals those whom accepted and refused requests concern; most concern the dispatcher alone.
  private func tell(_ acceptances: [Acceptance]) {
    photos.eraseLater(acceptances.flatMap(\.superseded))
    signals.dispatcher.ring()
    if acceptances.contains(where: { $0.state != .queued }) { signals.filing.ring() }
    if acceptances.contains(where: \.wasDraft) {
      signals.spool.draft.bell.ring()
      signals.sweeper.ring()
    }
  }
}
