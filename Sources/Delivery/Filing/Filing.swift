import Blocking
import DurableFiles
import Hooks
import Ledgers
import Logging
import Messages
import ServiceLifecycle
import Signalling
import Spooling

/// Moves the directories of finished requests to their final place: `sent/` with a receipt, `failed/` with an `error`,
/// or nowhere if a request was cancelled before anything was published.
///
/// Order for each batch (docs/durability.md): the outcome is committed; receipts and errors are written and synced;
/// other files are removed; directories are renamed; `sent/`, `failed/`, `cur/` and `new/` are synced; the requests are
/// marked as filed or immovable. Immovable ones are tried again now and then. Many receipts share one sync of the
/// filesystem at the end. Every step may be repeated after a crash.
struct Filing: Service, HasCore {
  let core: DeliveryCore
  let pool: BlockingPool
  let hooks: HookLine?
  private let isStopping = OneWayFlag()
  private let mutex = AsyncMutex()

  private static let work = "finished requests are left for later"
  /// Requests that share one sync, and requests between two commits if they are synced singly.
  private static let (batch, single) = (512, 128)
  /// How long the end of the daemon may wait for receipts.
  private static let lastRounds = Duration.seconds(1)

  /// Returns after all filing in progress.
  func settle() async { await mutex.withLock {} }

  func run() async throws {
    let bell = signals.filing
    // Some may be left from an earlier start.
    var (someStay, nextTry) = (true, ContinuousClock.now)
    bell.ring()
    await bell.serve(stopping: { [isStopping] in isStopping.set() }) {
      if someStay && nextTry <= .now {
        someStay = try await mutex.withLock { try await fileImmovable() }
        nextTry = .now + plan.intake.rescan
      }
      let outcome = try await fileAll { !isStopping.isSet }
      if outcome.immovable > 0 { someStay = true }
      if someStay { bell.ring(in: plan.intake.rescan.seconds) }
      if outcome.failed > 0 { throw FilingError(left: outcome.failed) }
      troubles.end(Self.work)
    } failed: { error in
      troubles.tell(Self.work, error)
      return 5
    }
    // The next start tries again and reports errors.
    let end = ContinuousClock.now + Self.lastRounds
    _ = try? await fileAll { ContinuousClock.now < end }
  }

  private struct Outcome {
    var failed = 0
    var immovable = 0
    var hasMore = false
  }

  /// Files finished requests in batches while `goesOn`.
  private func fileAll(while goesOn: () -> Bool) async throws -> Outcome {
    var all = Outcome(hasMore: true)
    while all.hasMore && goesOn() {
      let batch = try await mutex.withLock { try await fileBatch() }
      // Every batch meets those that cannot be filed now.
      all = Outcome(failed: batch.failed, immovable: all.immovable + batch.immovable, hasMore: batch.hasMore)
    }
    return all
  }

  private func fileBatch() async throws -> Outcome {
    let requests = try await ledger.unfiled(limit: Self.batch)
    if requests.isEmpty { return Outcome() }
    // Failed and cancelled requests have more to sync than a receipt.
    let crowd = requests.filter(\.leavesReceipt)
    let together = try await fileTogether(crowd)
    let others = requests.filter { together == nil || !$0.leavesReceipt }.prefix(Self.single)
    let tried = try await (together ?? []) + fileOneByOne(Array(others))
    let done = tried.filter { $0.place != .asBefore }
    let immovable = done.filter { $0.place == .immovable }.map(\.request)
    try await ledger.markFiled(
      done.filter { $0.place == .last }.map(\.request.row), immovable: immovable.map(\.row))
    for (request, _) in done { report(request) }
    // A failed one has its reason already.
    for request in immovable where request.state != .failed {
      log.warning("photospool may not move a request that is over", metadata: ["request": "\(request.request)"])
    }
    return Outcome(
      failed: tried.count - done.count, immovable: immovable.count,
      hasMore: !done.isEmpty && (requests.count == Self.batch || tried.count < requests.count))
  }

  /// Files immovable requests that have become movable, without hooks. Returns whether some stay.
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

  /// The place of a finished request's directory.
  private enum Place {
    case last
    /// Unchanged, because its owner does not let the daemon move it.
    case immovable
    /// Unchanged after an error, which was logged.
    case asBefore
  }
  private typealias Tried = (request: UnfiledRequest, place: Place)

  /// Files many requests with one sync; nil if they are too few or the sync is unavailable.
  private func fileTogether(_ requests: [UnfiledRequest]) async throws -> [Tried]? {
    guard let fileSystem = spool.fileSystem, fileSystem.isQuick(for: requests.count) else { return nil }
    return try await pool.run { [spool] in
      let tried = requests.map { ($0, file($0, in: spool, isSynced: false)) }
      // Otherwise all are written again and synced singly.
      return fileSystem.sync() ? tried : nil
    }
  }

  private func fileOneByOne(_ requests: [UnfiledRequest]) async throws -> [Tried] {
    if requests.isEmpty { return [] }
    let tried = try await withThrowingTaskGroup(of: Tried.self) { group in
      // Many at once, so that the disk syncs them together.
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

  private func file(_ request: UnfiledRequest, in spool: Spool, isSynced: Bool) -> Place {
    do {
      try spool.file(request, keepsText: plan.now.settings.texts == .keep, isSynced: isSynced)
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

/// Some requests could not be filed; the log gives the reason for each.
struct FilingError: Error, CustomStringConvertible {
  let left: Int
  var description: String { "\(left) requests are over and could not be moved to their last place" }
}

extension Spool {
  /// Moves a request's directory to its final place. Repeatable.
  ///
  /// - Parameters:
  ///   - keepsText: whether a sent text stays beside the receipt.
  ///   - isSynced: whether it is synced here, except for its name; otherwise its receipt is not durable until the
  ///     filesystem is synced.
  fileprivate func file(_ request: UnfiledRequest, keepsText: Bool, isSynced: Bool) throws {
    let identity = RequestIdentity(inode: request.inode, born: request.born)
    if request.state == .failed, let name = try nameOfNoRequest(identity, droppedAs: request.droppedAs) {
      try quarantine(name, as: request.request, because: escaped(request.error ?? "failed"))
      return
    }
    let directory = try takeOver(identity, droppedAs: request.droppedAs, as: request.request)
    guard let directory else {
      // A power cut may have kept the new name and lost the receipt.
      if request.leavesReceipt, let filed = try sent.entry(request.request), RequestIdentity(filed) == identity {
        try sent.directory(request.request).reduce(toReceiptOf: request, keepsText: keepsText, isSynced: true)
      }
      return
    }
    if request.state == .failed {
      // The sentence contains names from the client and is read on terminals.
      let dropped = request.droppedAs == request.request ? "" : " (dropped as \(request.droppedAs))"
      try directory.write(Array("\(escaped((request.error ?? "failed") + dropped))\n".utf8), as: "error")
      try directory.sync()
      return try move(request.request, to: failed)
    }
    if !request.leavesReceipt {
      // One rename, so that a part of it is never mistaken for a request, not even by a rebuilt ledger.
      try takeAway(request.request, from: cur, identity: identity)?.delete()
      return
    }
    try directory.reduce(toReceiptOf: request, keepsText: keepsText, isSynced: isSynced)
    try move(request.request, to: sent)
  }

  /// Moves a directory; an existing entry of that name gets an alternative name.
  private func move(_ name: String, to other: Directory) throws {
    if try cur.move(name, to: other, as: name) { return }
    // An earlier version left the error of an immovable request there.
    if try other.directory(name).names() == ["error"] { try other.removeTree(name) }
    for number in 2... {
      if try cur.move(name, to: other, as: name) { return }
      _ = try other.move(name, to: other, as: RequestName.alternative(of: name, number))
    }
  }

  /// The name in `new/` of a refused entry that is not a request's directory; nil if it is not there.
  private func nameOfNoRequest(_ identity: RequestIdentity, droppedAs dropped: String) throws -> [UInt8]? {
    if let entry = try? new.entry(dropped), RequestIdentity(entry) == identity {
      return entry.kind != .directory || RequestName(dropped) == nil ? Array(dropped.utf8) : nil
    }
    if RequestName(dropped) != nil { return nil }
    // Its name is not UTF-8, or it was renamed meanwhile.
    var found: [UInt8]?
    try new.forEachName { name in
      if let entry = try new.entry(bytes: name), RequestIdentity(entry) == identity { found = name }
      return found == nil
    }
    return found
  }
}

extension Directory {
  /// Removes everything of a request but its receipt, and its text if that was sent and `keepsText` is true.
  ///
  /// - Parameter isSynced: false if a sync of the filesystem follows, or the receipt is written again.
  fileprivate func reduce(toReceiptOf request: UnfiledRequest, keepsText: Bool, isSynced: Bool) throws {
    let text = keepsText ? request.messages.first { $0.own.kind == .text && $0.own.state == .sent }?.own.file : nil
    let receipt = request.receipt.encoded()
    if isSynced { try write(receipt, as: Receipt.fileName) } else { try put(receipt, as: Receipt.fileName) }
    for name in try names() where name != Receipt.fileName && name != text { try removeTree(name) }
    if isSynced { try sync() }
  }
}

extension UnfiledRequest {
  /// Whether something of it was published.
  fileprivate var leavesReceipt: Bool {
    self.state != .failed && (self.state != .cancelled || messages.contains { $0.own.state == .sent })
  }

  fileprivate var receipt: Receipt {
    Receipt(
      request: self.request, conversation: conversation?.description ?? "", inbox: self.inbox.text, id: self.key,
      digest: self.key == nil ? nil : self.digest, state: self.state, duplicateOf: self.duplicateOf,
      acceptedAt: self.acceptedAt.description,
      finishedAt: finishedAt.description,
      messages: messages.map { message, photo in
        Receipt.Message(
          message: message.message.text, kind: message.kind, state: message.state,
          publishedAt: message.sentAt?.description, remote: message.remote, url: photo?.url,
          contentDigest: photo?.attachment.flatMap { try? RemotePhoto(json: $0) }?.contentDigest,
          bytes: photo?.bytes ?? message.bytes, width: photo?.width, height: photo?.height)
      })
  }
}
