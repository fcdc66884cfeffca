import Blocking
import DurableFiles
import Ledgers
import Logging
import Messages
import ServiceLifecycle
import Settings
import Signalling
import Spooling

/// Looks after `draft/`: starts the upload of photos before Send, and removes the rest of cancelled drafts. Nothing
/// else reads `draft/`. Intake never waits for it. Renames decide: Send moves a draft into `new/`, a removal moves it
/// out of `draft/`, and the ledger accepts a directory once. A draft is gone if it is neither in `draft/` nor, checked
/// after that, in `new/`; if it is accepted meanwhile, it is no longer a draft.
///
/// A draft's directory is watched before it is read, so no later change is missed. Where the kernel gives no watch, the
/// next scan finds the change.
actor DraftService: Service, HasCore {
  nonisolated let core: DeliveryCore
  let pool: BlockingPool
  let photos: PhotoPipeline
  let circuits: Circuits
  private let watcher: SpoolWatcher
  let isStopping = OneWayFlag()
  var looks = DraftLooks()
  /// Changed drafts whose users' drafts rest.
  private var resting: [String] = []
  /// nil without watches.
  private var changes: DraftWatcher?
  private var hasToldOfWatches = false
  var uploads: [MessageID: Task<Void, Never>] = [:]
  private static let work = "drafts wait"
  /// Some events were not handled; a scan will follow.
  private var hasLostTrack = false
  var failures: [MessageID: Int] = [:]
  var ending: Set<Int64> = []
  private let closed: ClosedConversations
  /// In a cluster, the owner uploads photos after Send.
  let uploadsAhead: Bool

  /// Photos of one user's drafts that are uploaded. They hold keys in memory and objects in the store, perhaps for
  /// nothing, so later ones wait.
  static let mostAhead = 256
  /// Drafts that are ended in one step.
  static let mostEnding = 64

  var settings: Settings.Delivery { plan.delivery }

  init(
    _ core: DeliveryCore, pool: BlockingPool, photos: PhotoPipeline, circuits: Circuits, closed: ClosedConversations,
    watcher: SpoolWatcher, uploadsAhead: Bool
  ) {
    self.core = core
    self.pool = pool
    self.photos = photos
    self.circuits = circuits
    self.closed = closed
    self.watcher = watcher
    self.uploadsAhead = uploadsAhead
  }

  nonisolated var mailbox: Mailbox { signals.spool.draft }

  func run() async throws {
    changes = DraftWatcher(spool.draft.path, mailbox)
    if changes == nil { tellOfWatches() }
    defer { changes = nil }
    await mailbox.bell.serve(stopping: { [isStopping] in isStopping.set() }) {
      try await signals.draft.withLock { try await self.attend() }
      troubles.end(Self.work)
    } failed: { error in
      troubles.tell(Self.work, error)
      if !hasLostTrack {
        hasLostTrack = true
        mailbox.later(1) { $0.postScan() }
      }
      return nil
    }
  }

  private func attend() async throws {
    let seen = mailbox.take()
    if seen.needsScan { hasLostTrack = false }
    try await look(seen)
    try await endAbandoned()
    try await startAhead()
  }

  // MARK: Looking

  private func look(_ seen: Mailbox.Contents) async throws {
    for name in seen.builtInPlace { mailbox.later(plan.intake.settle.seconds) { $0.post(renamed: name) } }
    if seen.needsScan { return try await scan() }
    // Each once, in the order of the last change.
    var met = Set<String>()
    let names = (resting + seen.names).reversed().filter { met.insert($0).inserted }.reversed()
    guard !names.isEmpty else { return }
    resting = []
    var known = [RequestRow]()
    for name in Set(seen.names) { known += try await ledger.drafts(droppedAs: name) }
    // First, to free their names.
    try await removeGone(known)
    for name in names where !isStopping.isSet {
      if let rest = rest(of: name) {
        resting.append(name)
        mailbox.bell.ring(in: rest / .seconds(1))
      } else {
        try await look(at: name, isChange: looks.contains(name))
      }
    }
    try await removeReplaced()
  }

  /// The time until a changed draft may be read.
  private func rest(of name: String) -> Duration? {
    guard looks.contains(name), let entry = try? spool.draft.entry(name) else { return nil }
    return looks.rest(of: entry.owner)
  }

  /// Reads all of `draft/`, in order of arrival.
  private func scan() async throws {
    if try spool.reopenDraft() {
      log.warning("draft/ was replaced; watching the one that is there now")
      try watcher.watchDraftAgain()
    }
    resting = []
    let scan = try await pool.run { [spool] in try ArrivalScan(spool.draft) }
    try await removeGone(ledger.drafts())
    for name in scan.foreign {
      let name = String(decoding: name, as: UTF8.self)
      guard !looks.contains(name) else { continue }
      looks.readAgain(name)
      log.warning(
        "the draft cannot be sent as it is", metadata: ["request": "\(escaped(name))", "error": "\(Refusal.badName)"])
    }
    var names = Set(scan.foreign.map { String(decoding: $0, as: UTF8.self) })
    for index in 0..<scan.count where !isStopping.isSet {
      let entry = scan[index]
      names.insert(entry.name)
      let age = Double(Timestamp.now().milliseconds) / 1000 - Double(entry.changed) / 1e9
      try await look(at: entry.name, maybeInPlace: entry.maybeInPlace && (0..<plan.intake.settle.seconds).contains(age))
    }
    if isStopping.isSet { return }
    looks.keep(only: names)
    try await removeReplaced()
  }

  /// - Parameters:
  ///   - maybeInPlace: it may still be being built, so errors do not count yet.
  ///   - isChange: it was read before. Other changes may follow, so the next scan reports errors, unless one follows.
  private func look(at name: String, maybeInPlace: Bool = false, isChange: Bool = false) async throws {
    let (state, isWatched) = try await pool.run { [spool, changes] in
      let owner = try spool.draft.entry(name).flatMap { $0.kind == .directory ? $0.owner : nil }
      let isWatched = RequestName(name) == nil || owner.map { changes?.watch(name, of: $0) ?? true } ?? true
      return (DraftState(name, in: spool.draft), isWatched)
    }
    if !isWatched { tellOfWatches() }
    guard looks.begin(name, state) else { return }
    let start = ContinuousClock.now
    defer { if let state { looks.rest(state.owner, after: .now - start) } }
    do {
      guard
        var draft = try await pool.run({ [spool, plan] in
          try NewRequest(
            draft: name, in: spool, defaultInbox: plan.now.settings.inbox, patience: isChange ? 0 : 1)
        })
      else {
        looks.forget(name)
        return
      }
      // Read again after the purge of its conversation.
      if case .success(let contents) = draft.contents, closed.now.contains(contents.conversation) {
        looks.forget(name)
        return
      }
      draft.name = try await spool.freeName(for: name, in: ledger)
      guard let entry = try await ledger.enterDraft(draft, at: .now()) else {
        // It was sent meanwhile, or came from failed/.
        if try spool.draft.entry(name) != nil {
          log.warning("it is no longer a draft; move it into new/ to send it", metadata: ["request": "\(name)"])
        }
        return
      }
      photos.eraseLater(entry.superseded)
      guard entry.change != .none else { return }
      log.info(entry.change == .new ? "draft" : "draft changed", metadata: ["request": "\(entry.request)"])
    } catch is Refusal where maybeInPlace {
      looks.forget(name)
      mailbox.later(plan.intake.settle.seconds) { $0.post(renamed: name) }
    } catch let refusal as Refusal {
      if case .empty = refusal {
        try await removeEmptied(name)
        if isChange { return }
      }
      if isChange { return looks.readAgain(name) }
      if case .stillOpen = refusal { looks.readAgain(name) } else { looks.refuse(name) }
      // Its client may fix it; Send would refuse it.
      log.warning(
        "the draft cannot be sent as it is", metadata: ["request": "\(escaped(name))", "error": "\(refusal)"])
    } catch let error as FileError where !error.isPassing {
      log.warning(
        "the draft cannot be read",
        metadata: ["request": "\(escaped(name))", "error": "\(Refusal.unreadable(error.description))"])
    } catch {
      looks.forget(name)
      throw error
    }
  }

  private func tellOfWatches() {
    if hasToldOfWatches { return }
    hasToldOfWatches = true
    log.warning(
      "not every draft is watched; changes in the others are found every \(Int(plan.intake.rescan.seconds)) s")
  }
}
