import DurableFiles
import Foundation
import Janitor
import Ledgers
import Messages
import Spooling

/// Builds the ledger again from the spool, if it is damaged, lost or older than the spool.
///
/// Nothing is published. Waiting messages will be looked up on their network; those in receipts and in files of the
/// `local` network count as sent. The old ledger is kept. Order: the new one is made and closed in `state/rebuild/`;
/// the old files are moved into their own directory; the new one takes their place; each step is synced. After a crash
/// in between, the ledger is missing, and the rebuild is repeated.
///
/// Lost are holds, preferences, reveals, profile photos, cancelled requests that were not removed yet, keys of photos,
/// and abandoned objects in stores. Received photos are hidden again.
package struct Rebuild: Sendable {
  /// The results.
  package struct Report: Sendable, Equatable {
    package var waiting = 0
    package var sent = 0
    package var failed = 0
    package var photos = 0
    /// Conversations that were held, because their network cannot be asked about published messages.
    package var held: [ConversationID] = []
    /// Unreadable receipts and cached photos.
    package var unreadable = 0
    /// Paths of ignored copies below the spool.
    package var copies: [String] = []
    /// The path of the old ledger, if there was one.
    package var kept: String?
  }

  private let spool: Spool
  private let inbox: InboxID
  private let canBeAsked: @Sendable (ConversationID) -> Bool

  private static let files = ["", "-wal", "-shm"].map { Ledger.fileName + $0 }
  /// Requests in one transaction.
  private static let batch = 256

  /// - Parameters:
  ///   - inbox: for requests without one.
  ///   - canBeAsked: whether the network of a conversation accepts a message once, or can be asked for it.
  package init(spool: Spool, inbox: InboxID, canBeAsked: @escaping @Sendable (ConversationID) -> Bool) {
    self.spool = spool
    self.inbox = inbox
    // A profile photo can be set again.
    self.canBeAsked = { $0.isProfile || canBeAsked($0) }
  }

  /// Rebuilds the ledger.
  ///
  /// - Throws: `SpoolError.busy` while a daemon runs; `FileError`; `LedgerError`.
  package func run() async throws -> Report {
    guard let claim = try spool.claim(briefly: true, patience: 30) else { throw SpoolError.busy(spool.path) }
    defer { claim.release() }
    let turn = try SpoolJanitor.turn(on: spool, waits: true)
    defer { turn?.release() }
    try spool.state.removeTree(Ledger.workplaceName)
    let workplace = try spool.state.directory(creating: Ledger.workplaceName)
    var report = try await fill(Ledger(in: workplace))
    let lock = try FileLock(Ledger.lockName, in: spool.state)
    try lock.acquire()
    defer { lock.release() }
    report.kept = try setAside()
    _ = try workplace.move(Ledger.fileName, to: spool.state, as: Ledger.fileName)
    try workplace.sync()
    try spool.state.sync()
    try spool.state.removeTree(Ledger.workplaceName)
    return report
  }

  private func fill(_ ledger: Ledger) async throws -> Report {
    var report = Report()
    let now = Timestamp.now()
    try await ledger.noteRebuilt()
    let found = try FoundRequests(in: spool, inbox: inbox, canBeAsked: canBeAsked)
    report.unreadable = found.unreadable
    report.copies = found.copies
    for start in stride(from: 0, to: found.all.count, by: Self.batch) {
      let batch = found.all[start..<min(start + Self.batch, found.all.count)]
      try await ledger.restore(Array(batch), at: now)
      report.waiting += batch.count { $0.row.state == .queued }
      report.sent += batch.count { $0.row.state == .sent }
      report.failed += batch.count { $0.row.state == .failed }
    }
    report.held = Set(found.all.filter { $0.row.state == .queued }.compactMap(\.conversation))
      .filter { !canBeAsked($0) }.sorted()
    for conversation in report.held { _ = try await ledger.setHeld(true, conversation, at: now) }
    let photos = try FoundPhotos(
      in: spool, except: Set(found.all.flatMap(\.messages).filter { $0.state != .sent }.map(\.message)),
      receipts: found.receipts)
    report.unreadable += photos.unreadable
    report.copies += photos.copies
    report.photos = photos.all.count
    for start in stride(from: 0, to: photos.all.count, by: Self.batch) {
      try await ledger.restore(Array(photos.all[start..<min(start + Self.batch, photos.all.count)]), at: now)
    }
    try ledger.close()
    return report
  }

  /// Moves the old ledger's files into their own directory; nil if there are none.
  private func setAside() throws -> String? {
    let files = try Self.files.filter { try spool.state.entry($0) != nil }
    if files.isEmpty { return nil }
    let name = "\(Ledger.formerPrefix)\(Timestamp.now().milliseconds)"
    let aside = try spool.state.directory(creating: name)
    // The ledger goes first: without its log it would look complete. A log alone is harmless, and follows before a new
    // ledger takes the place.
    for file in files {
      _ = try spool.state.move(file, to: aside, as: file)
      try aside.sync()
      try spool.state.sync()
    }
    return aside.path
  }
}
