import DurableFiles
import Ledgers
import Messages
import Settings
import Spooling

/// One run of the janitor: purges, housekeeping, limits. It works with or without a running daemon; every change of the
/// ledger holds the daemon's lock.
package struct SpoolJanitor: Sendable {
  private let spool: Spool
  private let ledger: Ledger
  private let settings: Settings
  private let clock: JanitorClock
  private let purge: PurgeRun

  package init(
    spool: Spool, ledger: Ledger, settings: Settings, clock: JanitorClock = .current(), purge: PurgeRun? = nil
  ) {
    self.spool = spool
    self.ledger = ledger
    self.settings = settings
    self.clock = clock
    self.purge = purge ?? PurgeRun(spool: spool, ledger: ledger)
  }

  /// The kernel lock of a spool's janitor; nil if another one runs.
  ///
  /// - Parameter waits: wait for the other one instead.
  package static func turn(on spool: Spool, waits: Bool = false) throws -> FileLock? {
    let lock = try FileLock("janitor.lock", in: spool.state)
    if waits {
      try lock.acquire()
      return lock
    }
    return try lock.tryAcquire() ? lock : nil
  }

  /// Runs once.
  ///
  /// - Parameter isRehearsal: change nothing; the report says what would be done.
  package func pass(isRehearsal: Bool = false) async throws -> JanitorReport {
    var report = JanitorReport(dryRun: isRehearsal)
    try await purges(&report)
    var notes = try await ledger.janitorNotes()
    let jump = clock.jump(since: notes)
    let wasDoubted = jump != nil && !clock.isSameRun(as: notes)
    if let jump {
      report.warnings.append(
        "the clock has jumped by \(Int(jump)) s since the last pass; nothing is removed for its age now, and the next pass takes the new time for the right one"
      )
    } else {
      try await SpoolHousekeeping(
        spool: spool, ledger: ledger, settings: settings.janitor, clock: clock, isRehearsal: isRehearsal
      ).keep(&notes, &report)
      if !isRehearsal {
        try await ledger.expireRemotes(at: clock.now)
        report.removed.rows = try await ledger.forgetGonePhotos()
      }
    }
    try await CacheSlice(spool: spool, ledger: ledger, isRehearsal: isRehearsal).keep(&notes, &report)
    if isRehearsal {
      try await limits.plan(&report)
      return report
    }
    try await limits.keep(&report)
    if !wasDoubted { notes.merge(clock.notes) { $1 } }
    // A purge of the daemon may have set this meanwhile.
    notes["scrubs"] = nil
    try await ledger.setJanitorNotes(notes, at: clock.now)
    try await ledger.tidy()
    return report
  }

  private var limits: Limits { Limits(spool: spool, ledger: ledger, cache: settings.cache) }

  /// A running daemon purges by itself. Otherwise the janitor does.
  private func purges(_ report: inout JanitorReport) async throws {
    let (conversations, unreadable) = try await purge.ordered()
    report.warnings += unreadable
    guard !conversations.isEmpty else { return }
    if report.dryRun {
      report.purged.conversations = conversations.count
      return
    }
    guard let claim = try spool.claim(briefly: true) else {
      report.purged.leftToDaemon = conversations.count
      return
    }
    defer { claim.release() }
    report.purged = try await purge.run(conversations)
  }
}
