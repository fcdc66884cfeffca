import Blocking
import DurableFiles
import Foundation
import Ledgers
import Logging
import Messages
import ServiceLifecycle
import Spooling

/// Takes requests out of `new/`, in order of arrival, into the ledger. Nothing else reads `new/`.
///
/// A batch of requests shares one ledger transaction. Order for each batch (docs/durability.md): every file and request
/// directory is synced, then `new/`; the ledger's transaction is committed, and from here on the requests are accepted;
/// the directories are renamed into `cur/`. A rename that a crash prevents is made up for by whoever needs the
/// directory next.
actor Intake: Service {
  private let spool: Spool
  private let ledger: Ledger
  private let pool: BlockingPool
  private let watcher: SpoolWatcher
  private let mailbox: ArrivalMailbox
  private let options: DeliveryOptions
  private let cancelRequests: @Sendable ([String]) async throws -> Void
  private let changed: @Sendable () -> Void
  private let log: Logger
  private let isStopping = StopFlag()
  private var settling: SettlingEntries
  private var jobs: [@Sendable () async -> Void] = []
  private var isWatching = false

  /// Names that are handed on together while a scan goes on.
  private static let batch = 256

  /// - Parameters:
  ///   - cancelRequests: cancels the requests named in a file of `cancel/`.
  ///   - changed: is called when requests were accepted or refused.
  init(
    spool: Spool, ledger: Ledger, pool: BlockingPool, options: DeliveryOptions, log: Logger,
    cancelRequests: @escaping @Sendable ([String]) async throws -> Void, changed: @escaping @Sendable () -> Void
  ) throws {
    self.spool = spool
    self.ledger = ledger
    self.pool = pool
    self.options = options
    self.log = log
    self.cancelRequests = cancelRequests
    self.changed = changed
    let mailbox = ArrivalMailbox()
    self.mailbox = mailbox
    watcher = try SpoolWatcher(spool) { mailbox.post($0) }
    settling = SettlingEntries(settle: options.settle)
  }

  func run() async throws {
    let alarm = Alarm(mailbox.bell)
    // Watch first, then scan: what arrives in between is told by both.
    isWatching = watcher.start()
    if !isWatching {
      log.warning("the kernel gives no watch; new/ is looked into every \(Int(options.rescan)) s")
    }
    let rescans = Task { [mailbox, options] in
      while !Task.isCancelled {
        mailbox.post(.overflow)
        try await Task.sleep(for: .seconds(options.rescan))
      }
    }
    await withGracefulShutdownHandler {
      for await _ in mailbox.bell.rings {
        if isStopping.isSet { break }
        await runJobs()
        do { try await handle(mailbox.take()) } catch {
          log.error("requests are left in new/ for now", metadata: ["error": "\(error)"])
          mailbox.post(.overflow, in: 1)
        }
        if let deadline = settling.nextDeadline {
          await alarm.ring(in: (deadline - .now) / .seconds(1))
        }
      }
    } onGracefulShutdown: {
      self.isStopping.set()
      self.mailbox.bell.retire()
    }
    rescans.cancel()
    await alarm.stop()
    await runJobs()
    watcher.stop()
  }

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
    if seen.hasVanished { try await watchAgain() }
    for name in seen.builtInPlace { settling.add(name, in: spool.new) }
    if seen.needsScan || seen.hasVanished {
      try await scan(after: seen)
    } else {
      try await accept(seen.arrived)
    }
    let settled = settling.takeSettled(in: spool.new)
    if !settled.isEmpty {
      for name in settled {
        log.warning(
          "a request was built in new/ itself; build it in tmp/ and rename it into new/",
          metadata: ["request": "\(name)"])
      }
      try await accept(settled)
      // Requests that waited behind one of them are found by a scan.
      mailbox.post(.overflow)
    }
    if seen.cancelRequested || seen.needsScan { try await readCancelRequests() }
  }

  /// Looks into `new/`. What no event named was there before all that events named.
  private func scan(after seen: ArrivalMailbox.Contents) async throws {
    let known = settling.names
    let (scan, fence) = try await pool.run { [spool, watcher] in
      (try ArrivalScan(spool.new, except: known), Int(try watcher.fence()) ?? 0)
    }
    if isWatching, await !mailbox.pass(fence: fence, within: 1) {
      log.warning("the kernel tells nothing of new/; it is looked into every \(Int(options.rescan)) s")
      isWatching = false
    }
    let meanwhile = mailbox.take()
    for name in meanwhile.builtInPlace { settling.add(name, in: spool.new) }
    let told = Set(seen.arrived + meanwhile.arrived)
    let inPlace = settling.names
    try await pool.run { [spool] in
      for name in scan.foreign { try spool.quarantine(name, because: .badName) }
    }
    var before = [String]()
    for index in 0..<scan.count where !isStopping.isSet {
      let entry = scan[index]
      if told.contains(entry.name) || inPlace.contains(entry.name) { continue }
      if entry.maybeInPlace && isYoung(entry.changed) {
        let conversation = try? RequestReader(spool.new.directory(entry.name)).request.conversation
        settling.add(entry.name, in: spool.new, conversation: conversation)
        continue
      }
      before.append(entry.name)
      if before.count == Self.batch {
        try await accept(before)
        before = []
        await runJobs()
      }
    }
    try await accept(before)
    try await accept(seen.arrived + meanwhile.arrived)
    if meanwhile.cancelRequested { mailbox.post(.cancelRequested) }
    if meanwhile.hasVanished { mailbox.post(.vanished) }
  }

  private func isYoung(_ changed: Int64) -> Bool {
    let age = Double(Timestamp.now().milliseconds) / 1000 - Double(changed) / 1e9
    return age < options.settle
  }

  /// `new/` was moved away or removed. Its place is watched again as soon as there is one.
  private func watchAgain() async throws {
    do {
      try spool.reopenNew()
      try watcher.watchNewAgain()
      log.warning("new/ was replaced; watching the one that is there now")
    } catch {
      log.error("new/ is gone; make it again", metadata: ["error": "\(error)"])
      mailbox.post(.vanished, in: 5)
    }
  }

  private func readCancelRequests() async throws {
    let files = try await pool.run { [spool] in
      try spool.cancel.names().compactMap { name -> (String, [String])? in
        guard !name.hasPrefix("."), let entry = try spool.cancel.entry(name), entry.kind == .file else { return nil }
        let file = try spool.cancel.file(name)
        guard file.hasWriter() != true, let bytes = try file.contents(limit: 1 << 20) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        return (name, lines.map { $0.trimmingCharacters(in: .whitespaces) })
      }
    }
    for (name, requests) in files {
      try await cancelRequests(requests)
      try spool.cancel.remove(name)
    }
  }

  // MARK: Accepting

  /// Accepts the named requests in this order. Names that are gone are passed over.
  private func accept(_ names: [String]) async throws {
    var rest = names[...]
    while !rest.isEmpty, !isStopping.isSet {
      let waiting = settling.conversations
      let batch = try await pool.run { [spool, options, rest] in
        try IntakeBatch(rest, in: spool, inbox: options.inbox, waiting: waiting)
      }
      rest = rest.dropFirst(batch.taken)
      guard !batch.requests.isEmpty else { continue }
      let accepted = try await ledger.accept(
        batch.requests, at: .now(), isTaken: { [spool] in spool.has($0) },
        alternative: { RequestName($0)?.alternative($1).text ?? $0 })
      try await pool.run { [spool] in
        for (request, acceptance) in zip(batch.requests, accepted) where acceptance.state != .failed {
          let identity = RequestIdentity(inode: request.inode, born: request.born)
          try spool.takeOver(identity, droppedAs: request.droppedAs, as: acceptance.request)
        }
      }
      for acceptance in accepted { report(acceptance) }
      changed()
    }
  }

  private func report(_ acceptance: Acceptance) {
    var metadata: Logger.Metadata = ["request": "\(acceptance.request)"]
    if acceptance.request != acceptance.droppedAs { metadata["dropped-as"] = "\(acceptance.droppedAs)" }
    if let error = acceptance.error { metadata["error"] = "\(error)" }
    if acceptance.state == .failed {
      log.warning("refused", metadata: metadata)
    } else {
      log.info(acceptance.wasKnown ? "found again" : "accepted", metadata: metadata)
    }
  }
}

extension ArrivalMailbox {
  /// Posts `event` in `seconds`.
  func post(_ event: SpoolEvent, in seconds: Double) {
    Task { [weak self] in
      try await Task.sleep(for: .seconds(seconds))
      self?.post(event)
    }
  }
}

extension Spool {
  /// Whether a directory of that name is anywhere in the spool's later places.
  fileprivate func has(_ name: String) -> Bool {
    [cur, sent, failed].contains { directory in (try? directory.entry(name)) ?? nil != nil }
  }
}
