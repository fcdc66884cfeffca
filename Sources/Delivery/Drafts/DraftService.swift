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

/// Looks after `draft/`: starts the upload of photos before Send, and removes the rest of cancelled drafts. Nothing
/// else reads `draft/`. Intake never waits for it. Renames decide: Send moves a draft into `new/`, a removal moves it
/// out of `draft/`, and the ledger accepts a directory once. A draft is gone if it is neither in `draft/` nor, checked
/// after that, in `new/`; if it is accepted meanwhile, it is no longer a draft.
actor DraftService: Service {
  private let spool: Spool
  private let ledger: Ledger
  private let pool: BlockingPool
  private let photos: PhotoPipeline
  private let circuits: Circuits
  private let plan: PlanInForce
  private let troubles: Troubles
  private let log: Logger
  private let watcher: SpoolWatcher
  private let signals: DaemonSignals
  private let isStopping = OneWayFlag()
  /// The signature of each entry when it was read, to detect changes.
  private var looked: [String: [Int64]] = [:]
  private var uploads: [MessageID: Task<Void, Never>] = [:]
  private static let work = "drafts wait"
  /// Some events were not handled; a scan will follow.
  private var hasLostTrack = false
  private var failures: [MessageID: Int] = [:]
  private var ending: Set<Int64> = []
  private let closed: ClosedConversations

  /// Photos of one user's drafts that are uploaded. They hold keys in memory and objects in the store, perhaps for
  /// nothing, so later ones wait.
  static let mostAhead = 256
  /// Drafts that are ended in one step.
  private static let mostEnding = 64

  private var settings: Settings.Delivery { plan.delivery }

  init(
    spool: Spool, ledger: Ledger, pool: BlockingPool, photos: PhotoPipeline, circuits: Circuits, plan: PlanInForce,
    closed: ClosedConversations, watcher: SpoolWatcher, signals: DaemonSignals, troubles: Troubles, log: Logger
  ) {
    self.spool = spool
    self.ledger = ledger
    self.pool = pool
    self.photos = photos
    self.circuits = circuits
    self.plan = plan
    self.closed = closed
    self.troubles = troubles
    self.log = log
    self.watcher = watcher
    self.signals = signals
  }

  private nonisolated var mailbox: Mailbox { signals.spool.draft }

  func run() async throws {
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
    guard !seen.names.isEmpty else { return }
    // Each once, in the order of the last change.
    var met = Set<String>()
    let names = Array(seen.names.reversed().filter { met.insert($0).inserted }.reversed())
    var known = [RequestRow]()
    for name in names { known += try await ledger.drafts(droppedAs: name) }
    // First, to free their names.
    try await removeGone(known)
    for name in names where !isStopping.isSet { try await look(at: name) }
    try await removeReplaced()
  }

  /// Reads all of `draft/`, in order of arrival.
  private func scan() async throws {
    if try spool.reopenDraft() {
      log.warning("draft/ was replaced; watching the one that is there now")
      try watcher.watchDraftAgain()
    }
    let scan = try await pool.run { [spool] in try ArrivalScan(spool.draft) }
    try await removeGone(ledger.drafts())
    for name in scan.foreign {
      let name = String(decoding: name, as: UTF8.self)
      guard looked.updateValue([], forKey: name) == nil else { continue }
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
    looked = looked.filter { names.contains($0.key) }
    try await removeReplaced()
  }

  /// - Parameter maybeInPlace: it may still be being built, so errors do not count yet.
  private func look(at name: String, maybeInPlace: Bool = false) async throws {
    let signature = SettlingEntries.signature(of: name, in: spool.draft)
    if looked[name] == signature { return }
    looked[name] = signature
    do {
      guard
        var draft = try await pool.run({ [spool, plan] in
          try NewRequest(draft: name, in: spool, defaultInbox: plan.now.settings.inbox)
        })
      else {
        looked[name] = nil
        return
      }
      // Read again after the purge of its conversation.
      if case .success(let contents) = draft.contents, closed.all.contains(contents.conversation) {
        looked[name] = nil
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
      looked[name] = nil
      mailbox.later(plan.intake.settle.seconds) { $0.post(renamed: name) }
    } catch let refusal as Refusal {
      if case .stillOpen = refusal { looked[name] = nil }
      // Its client may fix it; Send would refuse it.
      log.warning(
        "the draft cannot be sent as it is", metadata: ["request": "\(escaped(name))", "error": "\(refusal)"])
    } catch let error as FileError where !error.isPassing {
      log.warning(
        "the draft cannot be read",
        metadata: ["request": "\(escaped(name))", "error": "\(Refusal.unreadable(error.description))"])
    } catch {
      looked[name] = nil
      throw error
    }
  }

  // MARK: Ends

  /// Removes drafts that a later one from the same inbox to the same conversation replaces.
  private func removeReplaced() async throws {
    for draft in try await ledger.replacedDrafts() {
      do {
        // It was sent right now, and stays.
        let taken = try await pool.run { [spool] in
          try spool.takeAway(draft.droppedAs, from: spool.draft, identity: draft.identity)
        }
        guard let taken, try await ledger.abandonDraft(draft) else { continue }
        log.info("draft replaced by another one", metadata: ["request": "\(draft.request)"])
        try await pool.run { try taken.delete() }
      } catch let error as FileError {
        log.warning(
          "a replaced draft cannot be removed", metadata: ["request": "\(draft.request)", "error": "\(error)"])
      }
    }
  }

  /// Sets aside those of `drafts` that their clients removed.
  private func removeGone(_ drafts: [RequestRow]) async throws {
    let gone = try await pool.run { [spool] in try spool.gone(drafts) }
    for draft in gone where try await ledger.abandonDraft(draft) {
      log.info("draft removed", metadata: ["request": "\(draft.request)"])
    }
  }

  /// Deletes uploads, cached photos and rows of drafts that were set aside.
  private func endAbandoned() async throws {
    for (row, superseded) in try await ledger.abandonedDrafts(limit: Self.mostEnding)
    where ending.insert(row).inserted {
      Task {
        do {
          for photo in superseded { try await photos.erase(photo) }
          try await ledger.forgetAbandonedDraft(row)
          signals.sweeper.ring()
        } catch {
          log.error("an abandoned draft is left for later", metadata: ["error": "\(error)"])
          try? await Task.sleep(for: .seconds(1))
        }
        ending.remove(row)
        mailbox.bell.ring()
      }
    }
  }

  // MARK: Upload ahead

  private func startAhead() async throws {
    let now = Timestamp.now()
    let ahead = try await ledger.draftPhotos(limit: Self.mostAhead, areUploadedLeftOut: true)
    if ahead.isEmpty { failures = [:] }
    for (photo, nextAttempt) in ahead where uploads[photo.message] == nil && !isStopping.isSet {
      // An attempt that is years away was set with another clock.
      if let wait = nextAttempt?.seconds(since: now), wait > 0, wait < 86_400 {
        mailbox.bell.ring(in: wait)
      } else {
        uploads[photo.message] = Task { await upload(photo) }
      }
    }
  }

  private func upload(_ photo: QueuedMessage) async {
    do {
      _ = try await photos.uploaded(photo, ahead: true)
      failures[photo.message] = nil
    } catch let failure as StepError {
      do { try await settle(photo, failure) } catch { await pause(error) }
    } catch is CancellationError {
      failures[photo.message] = nil
    } catch {
      await pause(error)
    }
    uploads[photo.message] = nil
    mailbox.bell.ring()
  }

  private func pause(_ error: any Error) async {
    log.error("the ledger failed; a draft waits", metadata: ["error": "\(error)"])
    try? await Task.sleep(for: .seconds(1))
  }

  private func settle(_ photo: QueuedMessage, _ failure: StepError) async throws {
    let error = failure.error
    let attempt = (failures[photo.message] ?? 0) + 1
    var wait: Double? = settings.delay(after: error, of: failure.destination, attempt: attempt)
    if error.cause == .photoChanged {
      // A changed photo is read again.
      looked[photo.droppedAs] = nil
      mailbox.post(renamed: photo.droppedAs)
    } else if error.cause.disposition == .fail {
      wait = nil
    }
    if !failure.wasTried || failure.destination != nil && error.cause.isOfTheLine {
      wait = settings.probe.seconds
    }
    let due = wait.map { Timestamp.now().advanced(seconds: $0) }
    // After Send, its conversation's worker tries it again and reports the error.
    guard try await ledger.postponeDraftPhoto(photo, error: error, until: due) else { return }
    failures[photo.message] = wait == nil ? nil : attempt
    guard failure.wasTried else { return }
    if let destination = failure.destination {
      try await circuits.failed(destination, error, conversation: photo.conversationRow)
    }
    log.warning(
      wait == nil ? "a draft's photo cannot be sent" : "a draft's photo waits",
      metadata: [
        "request": "\(photo.request)", "step": "\(failure.step.rawValue)", "cause": "\(error.cause.rawValue)",
        "error": "\(photo.file): \(error.sentence)",
      ])
  }
}
