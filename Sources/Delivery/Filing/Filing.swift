import Blocking
import DurableFiles
import Foundation
import Glibc
import Hooks
import Ledgers
import Logging
import Messages
import ServiceLifecycle
import Settings
import Signalling
import Spooling

/// Brings the directories of requests that are over to their last place: `sent/` with a receipt, `failed/` with an
/// `error`, or nowhere when a request was cancelled before anything of it was published.
///
/// Order for each batch (docs/durability.md): the outcome is committed in the ledger; receipts and errors are written and
/// synced; what must not stay is removed; directories are renamed; `sent/`, `failed/`, `cur/` and `new/` are synced; the
/// requests are marked as filed, or as those that stay where they are since we may not move them; these are tried again
/// now and then. Receipts of many requests are synced at the end, by one sync of the file system. Every
/// step may be done again after a crash.
struct Filing: Service {
  let ledger: Ledger
  let spool: Spool
  let pool: BlockingPool
  let troubles: Troubles
  let log: Logger
  /// Seconds between two tries to move what could not be moved.
  let rescan: @Sendable () -> Double
  /// Tells programs of each request that was filed.
  let hooks: HookLine?
  let bell: Bell
  private let isStopping = StopFlag()
  private let mutex = AsyncMutex()

  private static let work = "finished requests are left for later"
  /// Requests that share their syncs, and those that are synced one by one between two commits.
  private static let (batch, single) = (512, 128)
  /// How long the daemon's end may wait for the receipts of what is over.
  private static let lastRounds = Duration.seconds(1)

  init(
    ledger: Ledger, spool: Spool, pool: BlockingPool, rescan: @escaping @autoclosure @Sendable () -> Double,
    hooks: HookLine?, bell: Bell, troubles: Troubles, log: Logger
  ) {
    self.ledger = ledger
    self.spool = spool
    self.pool = pool
    self.troubles = troubles
    self.log = log
    self.rescan = rescan
    self.hooks = hooks
    self.bell = bell
  }

  /// Returns once nothing is in hand that the ledger gave out before.
  func settle() async { await mutex.withLock {} }

  func run() async throws {
    // Of an earlier start, too.
    var (someStay, nextTry) = (true, ContinuousClock.now)
    bell.ring()
    await bell.serve(stopping: { [isStopping] in isStopping.set() }) {
      if someStay && nextTry <= .now {
        someStay = try await mutex.withLock { try await fileImmovable() }
        nextTry = .now + .seconds(rescan())
      }
      let outcome = try await fileAll { !isStopping.isSet }
      if outcome.immovable > 0 { someStay = true }
      if someStay { bell.ring(in: rescan()) }
      if outcome.failed > 0 { throw FilingError(left: outcome.failed) }
      troubles.end(Self.work)
    } failed: { error in
      troubles.tell(Self.work, error)
      return 5
    }
    // What failed is told at the next start, which tries again.
    let end = ContinuousClock.now + Self.lastRounds
    _ = try? await fileAll { ContinuousClock.now < end }
  }

  /// What became of requests that were to be filed.
  private struct Outcome {
    var filed = 0
    var failed = 0
    var immovable = 0
    var hasMore = false
  }

  /// Files what is over, a batch at a time while `goesOn`.
  private func fileAll(while goesOn: () -> Bool) async throws -> Outcome {
    var all = Outcome(hasMore: true)
    while all.hasMore && goesOn() {
      let batch = try await mutex.withLock { try await fileBatch() }
      // What cannot be filed now is met in every batch.
      all = Outcome(
        filed: all.filed + batch.filed, failed: batch.failed, immovable: all.immovable + batch.immovable,
        hasMore: batch.hasMore && batch.filed > 0)
    }
    return all
  }

  private func fileBatch() async throws -> Outcome {
    let requests = try await ledger.unfiled(limit: Self.batch)
    if requests.isEmpty { return Outcome() }
    // Those that failed or were cancelled have more to sync than a receipt.
    let crowd = requests.filter(\.leavesReceipt)
    let together = try await fileTogether(crowd)
    let others = requests.filter { together == nil || !$0.leavesReceipt }.prefix(Self.single)
    let tried = try await (together ?? []) + fileOneByOne(Array(others))
    let done = tried.filter { $0.place != .asBefore }
    let immovable = done.filter { $0.place == .immovable }.map(\.request)
    try await ledger.markFiled(
      done.filter { $0.place == .last }.map(\.request.row), immovable: immovable.map(\.row))
    for (request, _) in done { report(request) }
    // Why one that failed did so was said.
    for request in immovable where request.state != .failed {
      log.warning("photospool may not move a request that is over", metadata: ["request": "\(request.request)"])
    }
    return Outcome(
      filed: done.count, failed: tried.count - done.count, immovable: immovable.count,
      hasMore: requests.count == Self.batch || tried.count < requests.count)
  }

  /// Files those that could not be moved, where that has become possible. They are over for long, and nobody is told.
  ///
  /// - Returns: whether some stay where they are.
  private func fileImmovable() async throws -> Bool {
    var last: Int64 = 0
    var someStay = false
    while true {
      let requests = try await ledger.immovable(after: last, limit: Self.single)
      guard let end = requests.last?.row, !isStopping.isSet else { return someStay }
      let filed = try await fileOneByOne(requests).filter { $0.place == .last }
      if !filed.isEmpty { try await ledger.markFiled(filed.map(\.request.row)) }
      someStay = someStay || filed.count < requests.count
      last = end
    }
  }

  /// Where the directory of a request is that is over.
  private enum Place {
    /// At its last place.
    case last
    /// Where it was, since its owner does not let us move it.
    case immovable
    /// Where it was, as something went wrong, which was logged.
    case asBefore
  }
  private typealias Tried = (request: UnfiledRequest, place: Place)

  /// Files a crowd with one sync. nil when it is none, or when that is not possible now.
  private func fileTogether(_ requests: [UnfiledRequest]) async throws -> [Tried]? {
    guard let fileSystem = spool.fileSystem, fileSystem.isQuick(for: requests.count) else { return nil }
    return try await pool.run { [spool] in
      let tried = requests.map { ($0, file($0, in: spool, isSynced: false)) }
      // Else all are written again, and each is synced by itself.
      return fileSystem.sync() ? tried : nil
    }
  }

  private func fileOneByOne(_ requests: [UnfiledRequest]) async throws -> [Tried] {
    if requests.isEmpty { return [] }
    let tried = try await withThrowingTaskGroup(of: Tried.self) { group in
      // Many at a time: the disk then syncs them together.
      for request in requests {
        group.addTask { try await pool.run { [spool] in (request, file(request, in: spool, isSynced: true)) } }
      }
      return try await group.reduce(into: [Tried]()) { $0.append($1) }
    }
    try await pool.run { [spool] in
      for directory in [spool.sent, spool.failed, spool.cur, spool.new] { try directory.sync() }
    }
    return tried
  }

  /// Files one request.
  private func file(_ request: UnfiledRequest, in spool: Spool, isSynced: Bool) -> Place {
    do {
      try spool.file(request, isSynced: isSynced)
      return .last
    } catch let error as FileError where error.isForbidden {
      return .immovable
    } catch {
      log.error("cannot file a request", metadata: ["request": "\(request.request)", "error": "\(error)"])
      return .asBefore
    }
  }

  private func report(_ request: UnfiledRequest) {
    var metadata: Logger.Metadata = ["request": "\(request.request)"]
    if let error = request.error { metadata["error"] = "\(error)" }
    if let first = request.duplicateOf { metadata["of"] = "\(first)" }
    log.info("request \(request.state.rawValue)", metadata: metadata)
    hooks?.tell(ended: request)
  }
}

/// Some requests could not be filed; the log says why for each.
struct FilingError: Error, CustomStringConvertible {
  let left: Int
  var description: String { "\(left) requests are over and could not be moved to their last place" }
}

extension Spool {
  /// Brings one request's directory to its last place. Does nothing that was done already.
  ///
  /// - Parameter isSynced: whether it is on the disk then, but for its name; otherwise its receipt is nowhere until the file
  ///   system is synced, whatever its directory is called.
  fileprivate func file(_ request: UnfiledRequest, isSynced: Bool) throws {
    let identity = RequestIdentity(inode: request.inode, born: request.born)
    if request.state == .failed, let name = try nameOfNoRequest(identity, droppedAs: request.droppedAs) {
      try quarantine(name, as: request.request, because: escaped(request.error ?? "failed"))
      return
    }
    let directory = try takeOver(identity, droppedAs: request.droppedAs, as: request.request)
    guard let directory else {
      // A power cut may have left its new name, and taken its receipt.
      if request.leavesReceipt, let filed = try sent.entry(request.request), RequestIdentity(filed) == identity {
        try sent.directory(request.request).reduce(toReceiptOf: request, isSynced: true)
      }
      return
    }
    if request.state == .failed {
      // It names files as their client named them, and is read on terminals.
      let dropped = request.droppedAs == request.request ? "" : " (dropped as \(request.droppedAs))"
      try directory.write(Array("\(escaped((request.error ?? "failed") + dropped))\n".utf8), as: "error")
      try directory.sync()
      return try move(request.request, to: failed)
    }
    if !request.leavesReceipt {
      // In one rename: what is left of it is never taken for a request, not even by a ledger that is made anew.
      try takeAway(request.request, from: cur, identity: identity)?.delete()
      return
    }
    try directory.reduce(toReceiptOf: request, isSynced: isSynced)
    try move(request.request, to: sent)
  }

  /// An entry that somebody has put there under that name makes room, under an alternative of it.
  private func move(_ name: String, to other: Directory) throws {
    if try cur.move(name, to: other, as: name) { return }
    // An earlier version left the error of a request there that it could not move.
    if try other.directory(name).names() == ["error"] { try other.removeTree(name) }
    for number in 2... {
      if try cur.move(name, to: other, as: name) { return }
      _ = try other.move(name, to: other, as: RequestName.alternative(of: name, number))
    }
  }

  /// The name in `new/` of what was refused and is no directory, or has no request's name; nil when it is not there.
  private func nameOfNoRequest(_ identity: RequestIdentity, droppedAs dropped: String) throws -> [UInt8]? {
    if let entry = try? new.entry(dropped), RequestIdentity(entry) == identity {
      return entry.kind != .directory || RequestName(dropped) == nil ? Array(dropped.utf8) : nil
    }
    if RequestName(dropped) != nil { return nil }
    // Its name is no text, or it was renamed meanwhile.
    var found: [UInt8]?
    try new.forEachName { name in
      if let entry = try new.entry(bytes: name), RequestIdentity(entry) == identity { found = name }
      return found == nil
    }
    return found
  }
}

extension Directory {
  /// Leaves nothing of a request but its receipt.
  ///
  /// - Parameter isSynced: false where nobody takes a part of a receipt for one, and all is done again unless a sync of
  ///   the file system follows.
  fileprivate func reduce(toReceiptOf request: UnfiledRequest, isSynced: Bool) throws {
    let receipt = request.receipt.encoded()
    if isSynced { try write(receipt, as: Receipt.fileName) } else { try put(receipt, as: Receipt.fileName) }
    for name in try names() where name != Receipt.fileName { try removeTree(name) }
    if isSynced { try sync() }
  }
}

extension UnfiledRequest {
  /// Whether something of it was published.
  fileprivate var leavesReceipt: Bool {
    state != .failed && (state != .cancelled || messages.contains { $0.state == .sent })
  }

  fileprivate var receipt: Receipt {
    Receipt(
      request: request, conversation: conversation?.description ?? "", inbox: inbox.text, id: key,
      digest: key == nil ? nil : digest, state: state, duplicateOf: duplicateOf, acceptedAt: acceptedAt.description,
      finishedAt: finishedAt.description,
      messages: messages.map { message in
        Receipt.Message(
          message: message.message.text, kind: message.kind, state: message.state,
          publishedAt: message.sentAt?.description, remote: message.remote, url: message.url,
          contentDigest: message.contentDigest, bytes: message.bytes, width: message.width, height: message.height)
      })
  }
}
