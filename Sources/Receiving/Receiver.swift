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
  private let isStopping = OneWayFlag()

  /// - Parameters:
  ///   - mailbox: events of `incoming/new/`; its bell also rings after requests and purges of photos.
  ///   - plan: the current one.
  ///   - downloaded: called for each photo that reaches the cache; it must return quickly.
  package init(
    spool: Spool, ledger: Ledger, mailbox: Mailbox, plan: @escaping @Sendable () -> ReceivingPlan, log: Logger,
    downloaded: @escaping @Sendable (WantedPhoto) -> Void = { _ in }
  ) throws {
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
  package nonisolated var progress: [MessageID: Double] { fetcher.progress.now }

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
      log.debug("fetching", metadata: ["message": "\(wanted.message)", "attempt": "\(wanted.attempt)"])
      if try await fetcher.attempt(wanted, log) { downloaded(wanted) }
    } catch  where error is DeliveryError || error is CancellationError {
      // The ledger has recorded it.
    } catch {
      log.error("the ledger failed; a photo waits", metadata: ["error": "\(error)"])
      try? await Task.sleep(for: .seconds(1))
      _ = try? await ledger.postponeDownload(of: wanted.message, error: nil, until: nil)
    }
    downloads[wanted.message] = nil
    mailbox.bell.ring()
  }
}
