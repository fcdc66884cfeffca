import Blocking
import DurableFiles
import Ledgers
import Logging
import Messages
import ServiceLifecycle
import Settings
import Signalling
import Spooling
import Supervision

/// Accepts requests from `new/` into the ledger, in order of arrival. Nothing else reads `new/`. A batch of requests
/// shares one transaction. Order for each batch (docs/durability.md): files and request directories are synced, then
/// `new/`, or a large batch at once; the transaction is committed, which accepts the requests; the directories are
/// renamed into `cur/`. The next user of the directory repeats a rename that a crash prevented.
actor Intake: Service, HasCore {
  nonisolated let core: DeliveryCore
  private let pool: BlockingPool
  private let watcher: SpoolWatcher
  private let photos: PhotoPipeline
  private let closed: ClosedConversations
  private let manager: ServiceManager?
  private let unconfirmed = UnconfirmedRequests([:])
  private let unmovable = UnmovableEntries([:])
  private let open = OpenRequests()
  private let isStopping = OneWayFlag()
  private var settling = SettlingEntries()
  /// Settled entries, for the next scan to accept.
  private var settled: Set<String> = []
  private var isWatching = false
  /// The kernel had not told everything within the patience of the last scan.
  private var wasBehind = false
  /// There is no `new/`; wait for one.
  private var isNewGone = false
  /// Requests without an event may precede the next events: at the start, and after events were dropped. Only a scan
  /// knows the order then.
  private var hasLostTrack = true

  /// Earliest time for the next attempt; an immediate retry would fail the same way.
  private var restsUntil = ContinuousClock.now

  /// Seconds until the next attempt.
  private static let patience = 1.0
  private static let work = "requests are left in new/ for now"
  /// Names that a scan hands on together.
  private static let batch = 256
  /// More unmovable entries are forgotten, and refused again.
  private static let mostUnmovable = 10_000
  private var settings: Settings.Intake { plan.intake }
  private var mailbox: Mailbox { signals.spool.new }
  /// Seconds that a complete request waits if it may have been built in place: longer than the steps of a script are
  /// apart, shorter than people notice.
  private static let moment = 0.25

  /// - Parameters:
  ///   - photos: erases photos that a request replaces.
  ///   - closed: conversations whose requests are skipped.
  ///   - manager: notified once no arrival can be missed.
  init(
    _ core: DeliveryCore, pool: BlockingPool, watcher: SpoolWatcher, photos: PhotoPipeline, closed: ClosedConversations,
    manager: ServiceManager?
  ) {
    self.core = core
    self.pool = pool
    self.watcher = watcher
    self.photos = photos
    self.closed = closed
    self.manager = manager
  }

  func run() async throws {
    // Watch first, then scan, so that nothing in between is missed.
    isWatching = watcher.start()
    if !isWatching {
      let rescan = "new/ is looked into every \(Int(settings.rescan.seconds)) s"
      log.warning("the kernel gives no watch, or too many files were open before; \(rescan)")
    }
    // Signals are handled already, and no arrival can be missed.
    log.info("ready", metadata: ["spool": "\(spool.path)", "sqlite": "\(Ledger.sqliteVersion)"])
    manager?.ready("Requests are being taken.")
    let rescans = Task { [signals, plan] in
      while !Task.isCancelled {
        signals.spool.scanAll()
        try await Task.sleep(for: plan.intake.rescan)
      }
    }
    await mailbox.bell.serve(stopping: { [isStopping] in isStopping.set() }) {
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
      // Requests of later events must not overtake these.
      hasLostTrack = true
      restsUntil = .now + .seconds(Self.patience)
      mailbox.postScan()
      return nil
    }
    rescans.cancel()
    watcher.stop()
  }

  // MARK: Arrivals

  private func handle(_ seen: Mailbox.Contents) async throws {
    if seen.hasVanished || (seen.needsScan && !isNewGone) { watchAgain() }
    for name in seen.builtInPlace { settling.add(name, in: spool.new, settle: settings.settle.seconds) }
    let isAnyDue = open.nextLook.map { $0 <= .now } ?? false
    if seen.needsScan || seen.hasVanished || hasLostTrack || isAnyDue {
      // Before the scan: requests that it skips may need another one.
      hasLostTrack = false
      try await scan(after: seen)
    } else {
      var waiting = settling.conversations.union(open.conversations)
      try await accept(seen.names, except: &waiting)
    }
    for entry in settling.takeSettled(in: spool.new) {
      if entry.wasBuiltInPlace {
        log.warning(
          "a request was built in new/ itself; build it in tmp/ and rename it into new/",
          metadata: ["request": "\(entry.name)"])
      }
      // The next scan accepts it in order, with those that waited for it.
      settled.insert(entry.name)
      mailbox.postScan()
    }
  }

  /// Scans `new/`. Requests without an event precede those with one.
  private func scan(after seen: Mailbox.Contents) async throws {
    let (scan, fence) = try await pool.run { [spool, watcher] in
      (try ArrivalScan(spool.new), try watcher.fence())
    }
    var isBehind = false
    if isWatching { isBehind = await !watcher.pass(fence: fence, within: 1) }
    if isBehind && !wasBehind {
      let rescan = "it is looked into every \(Int(settings.rescan.seconds)) s"
      log.warning("the kernel tells nothing of new/, or tells it late; \(rescan)")
    }
    wasBehind = isBehind
    let meanwhile = mailbox.take()
    for name in meanwhile.builtInPlace { settling.add(name, in: spool.new, settle: settings.settle.seconds) }
    // After lost events only a scan knows the order. Late ones are only the beginning of those before the fence.
    let knowsOrder = !meanwhile.hasLoss && !isBehind
    let told = knowsOrder ? Set(seen.names + meanwhile.names) : []
    if !scan.foreign.isEmpty {
      let inbox = plan.now.settings.inbox
      let batch = try await pool.run { [spool] in try IntakeBatch(foreign: scan.foreign, in: spool, inbox: inbox) }
      try await signals.new.withLock { try await self.enter(batch) }
    }
    // Conversations with an earlier request that is not ready: later ones wait, earlier ones do not.
    var waiting: Set<ConversationID> = []
    open.beginLook()
    var ready = [String]()
    for index in 0..<scan.count where !isStopping.isSet {
      let entry = scan[index]
      if told.contains(entry.name) { continue }
      // Requests that were set aside were renamed, or have settled.
      let isSettled = settled.remove(entry.name) != nil || open.contains(entry.name)
      let settles =
        settling.contains(entry.name)
        || (entry.maybeInPlace && !isSettled && isStillBuilt(entry.name, changed: entry.changed))
      let held = settles ? .some(settling.conversation(waitingFor: entry.name)) : open.conversation(of: entry.name)
      if held == nil { ready.append(entry.name) }
      if held != nil || ready.count == Self.batch {
        try await accept(ready, except: &waiting)
        ready = []
      }
      if case .some(let conversation?) = held { waiting.insert(conversation) }
    }
    try await accept(ready, except: &waiting)
    if knowsOrder {
      try await accept(seen.names + meanwhile.names, except: &waiting)
    } else {
      hasLostTrack = true
      // They may have arrived after the scan.
      if !meanwhile.names.isEmpty { mailbox.postScan() }
    }
    open.endLook()
    settled = []
    if meanwhile.needsScan { mailbox.postScan() }
    if meanwhile.hasVanished { mailbox.postVanished() }
  }

  /// Whether an entry of a scan may still be being built. Renaming leaves other times than building in place, but
  /// filesystem clocks are coarse, so a quick rename may look the same. A complete entry therefore waits only for a
  /// moment, with its conversation.
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

  /// Watches `new/` again after it was moved or removed. The kernel does not report that for a directory that is open,
  /// as ours is.
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

  /// Accepts the named requests in this order. Missing ones are skipped.
  ///
  /// - Parameter waiting: conversations whose requests are skipped, for a later scan; extended by those with a request set
  ///   aside.
  private func accept(_ names: [String], except waiting: inout Set<ConversationID>) async throws {
    if !names.isEmpty, try spool.state.freeBytes() < Reserve.bytes { throw SpoolError.full(spool.path) }
    // A request that was moved away and back is read once, not again before its move.
    var seen = Set<String>()
    var rest = names.filter { seen.insert($0).inserted }[...]
    while !rest.isEmpty, !isStopping.isSet {
      let (names, skipped) = (rest, waiting)
      mailbox.bell.answer()
      // Commands that change new/ run between two batches.
      let batch = try await signals.new.withLock { try await self.acceptBatch(of: names, except: skipped) }
      guard let batch else { return }
      waiting.formUnion(batch.setAside)
      rest = rest.dropFirst(batch.taken)
    }
  }

  /// Accepts a batch from the front of `names`; nil if the daemon stops.
  private func acceptBatch(
    of names: ArraySlice<String>, except waiting: Set<ConversationID>
  ) async throws -> IntakeBatch? {
    if isStopping.isSet { return nil }
    // Requests skipped during a purge precede later ones.
    if !closed.now.isEmpty { hasLostTrack = true }
    let batch = try await pool.run { [spool, plan, closed, unconfirmed, unmovable, open] in
      try IntakeBatch(
        names, in: spool, inbox: plan.now.settings.inbox, except: waiting.union(closed.now), unconfirmed: unconfirmed,
        unmovable: unmovable, open: open)
    }
    try await enter(batch)
    return batch
  }

  /// Enters a batch into the ledger, and moves its requests into `cur/`.
  private func enter(_ batch: IntakeBatch) async throws {
    if batch.requests.isEmpty { return }
    let acceptances = try await acceptances(of: batch)
    var fault: (any Error)?
    do {
      try await pool.run { [spool] in
        for (request, acceptance) in zip(batch.requests, acceptances)
        where acceptance.state == .queued || acceptance.state != .failed && !acceptance.wasKnown {
          let identity = RequestIdentity(inode: request.inode, born: request.born)
          do { _ = try spool.bringIn(identity, droppedAs: request.droppedAs, as: acceptance.request) } catch let error
            as FileError where error.isForbidden
          {
            // Its owner has just prevented it. The request fails at its turn; others go on.
          }
        }
      }
    } catch { fault = error }
    for request in batch.outOfReach {
      unmovable.change { entries in
        if entries.count >= Self.mostUnmovable { entries = [:] }
        entries[request.identity] = request.changed
      }
    }
    // The requests are accepted all the same; their worker moves them first.
    for (acceptance, request) in zip(acceptances, batch.requests) { log.tell(acceptance, of: request) }
    tell(acceptances)
    if let fault { throw fault }
  }

  private func acceptances(of batch: IntakeBatch) async throws -> [Acceptance] {
    var (requests, taken) = (batch.requests, batch.namesTaken)
    while true {
      for index in taken {
        let others = Set(requests.map(\.name))
        requests[index].name = try await spool.freeName(for: requests[index].droppedAs, in: ledger, except: others)
      }
      do {
        return try await ledger.accept(requests, at: .now()) { [spool] new in
          // Other entries cannot be sent, so only their client moves them.
          guard RequestName(new.droppedAs) != nil else { return true }
          let entry = try? spool.new.entry(new.droppedAs)
          return entry.map { RequestIdentity($0) == RequestIdentity(inode: new.inode, born: new.born) } ?? false
        }
      } catch let error as NamesTaken { taken = error.indices }
    }
  }

  /// Signals the services that accepted and refused requests concern, usually only the dispatcher.
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
