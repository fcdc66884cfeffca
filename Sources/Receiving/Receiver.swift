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

/// Receives photos while the daemon runs: accepts messages of bridges, and fetches wanted photos, a few at a time. It
/// runs only on events, requests and due attempts.
package actor Receiver: Service {
  private let spool: Spool
  private let incoming: IncomingSpool
  private let ledger: Ledger
  private let fetcher: PhotoFetcher
  private let intake: IncomingIntake
  private let plan: @Sendable () -> ReceivingPlan
  private let log: Logger
  private let downloaded: @Sendable (WantedPhoto) -> Void
  nonisolated let mailbox: Mailbox
  private let pool = BlockingPool(label: "incoming", threads: 1)
  private var downloads: [MessageID: (conversation: ConversationID, task: Task<Void, Never>)] = [:]
  private let isStopping = StopFlag()

  /// - Parameters:
  ///   - mailbox: events of `incoming/new/`; its bell also rings after requests and purges of photos.
  ///   - plan: the current one.
  ///   - downloaded: called for each photo that reaches the cache; it must return quickly.
  package init(
    spool: Spool, ledger: Ledger, mailbox: Mailbox, plan: @escaping @Sendable () -> ReceivingPlan, log: Logger,
    downloaded: @escaping @Sendable (WantedPhoto) -> Void = { _ in }
  ) throws {
    self.spool = spool
    self.ledger = ledger
    self.mailbox = mailbox
    self.plan = plan
    self.log = log
    self.downloaded = downloaded
    fetcher = try PhotoFetcher(spool: spool, ledger: ledger, plan: plan)
    incoming = try IncomingSpool(spool)
    intake = IncomingIntake(incoming: incoming, ledger: ledger, plan: plan, log: log)
  }

  /// Download progress by message, 0 to 1.
  package nonisolated var progress: [MessageID: Double] { fetcher.progress.all }

  private var settings: Settings { plan().settings }

  package func run() async throws {
    try await ledger.recoverReceived()
    try await removeLeftovers()
    mailbox.postScan()
    await mailbox.bell.serve(stopping: { [isStopping] in isStopping.set() }) {
      try await take(mailbox.take())
      try await startDownloads()
    } failed: { error in
      log.error("receiving waits", metadata: ["error": "\(error)"])
      mailbox.later(1) { $0.postScan() }
      return nil
    }
    await end(Array(downloads.values))
  }

  /// Stops the downloads of a purged conversation for good.
  package func release(_ conversation: ConversationID) async {
    await end(downloads.values.filter { $0.conversation == conversation })
  }

  private func end(_ downloads: [(conversation: ConversationID, task: Task<Void, Never>)]) async {
    for download in downloads { download.task.cancel() }
    for download in downloads { await download.task.value }
  }

  /// Accepts nothing more, and lets `run` end.
  func stop() {
    isStopping.set()
    mailbox.bell.retire()
  }

  // MARK: incoming/new/

  private func take(_ seen: Mailbox.Contents) async throws {
    if !seen.builtInPlace.isEmpty { mailbox.later(settings.intake.settle.seconds) { $0.postScan() } }
    guard seen.needsScan else { return try await intake.accept(seen.names) }
    let scan = try await pool.run { [incoming] in try ArrivalScan(incoming.new) }
    for name in scan.foreign {
      try intake.refuse(name, "the name is not UTF-8; rename it and move it into incoming/new/ again")
    }
    var ready = [String]()
    for index in 0..<scan.count where !isStopping.isSet {
      let entry = scan[index]
      let age = Double(Timestamp.now().milliseconds) / 1000 - Double(entry.changed) / 1e9
      // It may still be being built.
      if entry.maybeInPlace, (0..<settings.intake.settle.seconds).contains(age) {
        mailbox.later(settings.intake.settle.seconds - age) { $0.postScan() }
      } else {
        ready.append(entry.name)
      }
    }
    try await intake.accept(ready)
    // Lost events may have been earlier than these.
    try await intake.accept(seen.names)
  }

  /// Removes partial downloads of photos that are complete or unknown.
  private func removeLeftovers() async throws {
    for name in try await ledger.unwanted(incoming.cur.names()) { try incoming.cur.removeTree(name) }
  }

  // MARK: Downloads

  private func startDownloads() async throws {
    mailbox.bell.silence()
    guard var next = try await nextDownload() else { return }
    if next <= .now(), !isStopping.isSet {
      let free = settings.receiving.downloads - downloads.count
      for wanted in try await ledger.beginDownloads(limit: free, perHost: settings.receiving.perHost, at: .now()) {
        downloads[wanted.message] = (wanted.conversation, Task { await download(wanted) })
      }
      guard let later = try await nextDownload() else { return }
      next = later
    }
    // An attempt that is years away was set with another clock.
    let wait = min(max(next.seconds(since: .now()), 0.01), 3600)
    mailbox.bell.ring(in: wait)
  }

  /// When the next photo is due; nil if none is, or if all places are taken.
  private func nextDownload() async throws -> Timestamp? {
    guard downloads.count < settings.receiving.downloads else { return nil }
    return try await ledger.nextDownload(perHost: settings.receiving.perHost)
  }

  private func download(_ wanted: WantedPhoto) async {
    do {
      let begin = ContinuousClock.now
      log.debug("fetching", metadata: ["message": "\(wanted.message)", "attempt": "\(wanted.attempt)"])
      let attempt = try await attempt(wanted)
      try await Self.settle(wanted, attempt, since: begin, fetcher, ledger, settings, log)
      if case .done = attempt { downloaded(wanted) }
    } catch {
      log.error("the ledger failed; a photo waits", metadata: ["error": "\(error)"])
      try? await Task.sleep(for: .seconds(1))
      _ = try? await ledger.postponeDownload(of: wanted.message, error: nil, until: nil)
    }
    downloads[wanted.message] = nil
    mailbox.bell.ring()
  }

  private func attempt(_ wanted: WantedPhoto) async throws -> Attempt {
    do {
      guard let photo = try await fetcher.fetch(wanted) else { return .purged }
      return .done(photo)
    } catch let error as DeliveryError {
      return error.cause == .cancelled ? .cutOff : .failed(error)
    } catch is CancellationError {
      return .cutOff
    }
  }

  /// The result of an attempt.
  private enum Attempt: Sendable {
    case done(PhotoRow)
    case cutOff
    case purged
    case failed(DeliveryError)
  }

  /// Records the result of an attempt.
  private static func settle(
    _ wanted: WantedPhoto, _ attempt: Attempt, since begin: ContinuousClock.Instant, _ fetcher: PhotoFetcher,
    _ ledger: Ledger, _ settings: Settings, _ log: Logger
  ) async throws {
    var metadata: Logger.Metadata = [
      "message": "\(wanted.message)", "step": "fetch", "attempt": "\(wanted.attempt)",
      "seconds": "\(Self.text(begin.duration(to: .now) / .seconds(1)))",
    ]
    switch attempt {
    case .done(let photo):
      metadata["bytes"] = "\(photo.bytes)"
      metadata["from"] = "\(photo.originalBytes)"
      metadata["size"] = "\(photo.width)x\(photo.height)"
      log.info("downloaded", metadata: metadata)
    case .purged: break
    case .cutOff: _ = try await ledger.postponeDownload(of: wanted.message, error: nil, until: nil)
    case .failed(let error):
      let now = Timestamp.now()
      metadata["cause"] = "\(error.cause.rawValue)"
      metadata["error"] = "\(escaped(error.sentence))"
      if let wait = settings.wait(after: error, wanted: wanted, now: now) {
        metadata["wait"] = "\(Self.text(wait))"
        log.warning("a photo waits", metadata: metadata)
        _ = try await ledger.postponeDownload(of: wanted.message, error: error, until: now.advanced(seconds: wait))
      } else {
        log.warning("a photo cannot be had", metadata: metadata)
        try await fetcher.forget(wanted)
        _ = try await ledger.failDownload(of: wanted.message, error: error)
      }
    }
  }

  private static func text(_ seconds: Double) -> String { String(format: "%.3f", seconds) }

  /// Fetches one wanted photo once, without a daemon.
  ///
  /// - Throws: the recorded `DeliveryError`.
  package static func fetchOnce(
    _ message: MessageID, with fetcher: PhotoFetcher, ledger: Ledger, settings: Settings, log: Logger
  ) async throws {
    try await ledger.recoverReceived()
    guard let wanted = try await ledger.beginDownload(of: message, at: .now()) else { return }
    let begin = ContinuousClock.now
    do {
      try await fetcher.fetch(wanted)
    } catch let error as DeliveryError {
      try await settle(wanted, .failed(error), since: begin, fetcher, ledger, settings, log)
      throw error
    }
  }
}

extension Settings {
  /// Seconds until the next attempt, if there is one.
  func wait(after error: DeliveryError, wanted: WantedPhoto, now: Timestamp) -> Double? {
    let (age, lifetime) = (now.seconds(since: wanted.wantedAt), receiving.lifetime.seconds)
    switch error.cause.disposition {
    case .fail: return nil
    case .hold: return age < lifetime ? delivery.mending.seconds : nil
    case .retry:
      // The last attempt is at the end of the photo's lifetime, whatever a server asks for.
      return age < lifetime
        ? min(delivery.backoff.delay(after: error, attempt: wanted.attempt, random: .random(in: 0...1)), lifetime - age)
        : nil
    }
  }
}
