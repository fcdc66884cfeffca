import Ledgers
import Logging
import Messages
import ServiceLifecycle
import Signalling
import Stores

/// Deletes abandoned uploads from their stores, never those that may have been published. An object that its store does not
/// delete waits alone. An unreachable store waits with all its objects, without delaying others. Networks remove what they
/// stored for messages that are over.
struct Sweeper: Service, HasCore {
  let core: DeliveryCore

  /// Uploads per claim.
  private static let batch = 64

  func run() async throws {
    var pauses = SweepPauses()
    let bell = signals.sweeper
    bell.ring()
    await bell.serve {
      await forgetEnded()
      if pauses.restsUntil > .now { return bell.ring(in: (pauses.restsUntil - .now) / .seconds(1)) }
      try await sweep(&pauses)
      if let next = pauses.next { bell.ring(in: (next - .now) / .seconds(1)) }
    } failed: { error in
      log.warning("abandoned uploads are left for later", metadata: ["error": "\(error)"])
      try? await ledger.unclaimAbandonedUploads()
      pauses.restsUntil = .now + SweepPauses.first
      return SweepPauses.first / .seconds(1)
    }
  }

  private func forgetEnded() async {
    for network in plan.destinations.networks.map(\.network) {
      do {
        try await network.forgetEnded { messages in try await ledger.waiting(among: messages) }
      } catch {
        log.warning(
          "ended messages stay stored for now", metadata: ["network": "\(network.name)", "error": "\(error)"])
      }
    }
  }

  private func sweep(_ pauses: inout SweepPauses) async throws {
    var left: [String: (count: Int, error: DeliveryError)] = [:]
    defer {
      for (store, (count, error)) in left {
        log.warning(
          "abandoned uploads are left for later",
          metadata: ["store": "\(store)", "uploads": "\(count)", "error": "\(error.sentence)"])
      }
    }
    pauses.beginSweep(at: .now)
    while true {
      let uploads = try await ledger.claimAbandonedUploads(
        limit: Self.batch, exceptRows: pauses.rows, exceptStores: pauses.stores)
      if uploads.isEmpty { return pauses.endSweep() }
      for upload in uploads {
        // Another upload of the batch found the store unreachable.
        if pauses.stores.contains(upload.store) {
          try await ledger.unclaimAbandonedUpload(upload.row)
          continue
        }
        do { try await delete(upload) } catch let error as DeliveryError {
          try await ledger.unclaimAbandonedUpload(upload.row)
          left[upload.store, default: (0, error)].count += 1
          if error.cause.isOfTheLine {
            pauses.pause(store: upload.store, at: .now)
          } else {
            pauses.pause(row: upload.row, at: .now)
          }
          continue
        }
        try await ledger.forgetUpload(upload.row)
        pauses.forget(row: upload.row)
      }
    }
  }

  private func delete(_ upload: AbandonedUpload) async throws {
    // A purge deletes even the ids of messages.
    let message = upload.message.text.isEmpty ? "purged" : upload.message.text
    guard let store = plan.destinations.store(named: upload.store) else {
      return log.warning(
        "an abandoned upload stays behind: its store is configured no more",
        metadata: ["store": "\(upload.store)", "message": "\(message)", "object": "\(upload.object)"])
    }
    try await store.delete(ObjectName(unchecked: upload.object))
    log.info("upload deleted", metadata: ["store": "\(upload.store)", "message": "\(message)"])
  }
}

/// The pauses of abandoned uploads.
struct SweepPauses {
  /// Until an unreachable store, or the ledger, is tried again.
  static let first = Duration.seconds(60)
  /// The longest pause of an object that cannot be deleted.
  private static let longest = Duration.seconds(3600)

  /// Nothing is tried before.
  var restsUntil = ContinuousClock.now
  private var pausedStores: [String: ContinuousClock.Instant] = [:]
  private var pausedRows: [Int64: (failures: Int, until: ContinuousClock.Instant)] = [:]
  /// Uploads and stores to skip in this sweep.
  private(set) var rows: Set<Int64> = []
  private(set) var stores: Set<String> = []

  /// When the first pause of this sweep ends, even if it is over by now; nil if the sweep skips nothing.
  var next: ContinuousClock.Instant? {
    (rows.compactMap { pausedRows[$0]?.until } + stores.compactMap { pausedStores[$0] }).min()
  }

  mutating func beginSweep(at now: ContinuousClock.Instant) {
    pausedStores = pausedStores.filter { $0.value > now }
    stores = Set(pausedStores.keys)
    rows = Set(pausedRows.filter { $0.value.until > now }.keys)
  }

  /// Ends a sweep: removes rows whose pause was over and that did not fail again, unless their store rests.
  mutating func endSweep() {
    if stores.isEmpty { pausedRows = pausedRows.filter { rows.contains($0.key) } }
  }

  mutating func pause(store: String, at now: ContinuousClock.Instant) {
    stores.insert(store)
    pausedStores[store] = now + Self.first
  }

  /// Doubles the pause of a row each time.
  mutating func pause(row: Int64, at now: ContinuousClock.Instant) {
    let failures = (pausedRows[row]?.failures ?? 0) + 1
    rows.insert(row)
    pausedRows[row] = (failures, now + min(Self.longest, Self.first * (1 << min(failures - 1, 20))))
  }

  mutating func forget(row: Int64) { pausedRows[row] = nil }
}
