import Ledgers
import Logging
import Messages
import ServiceLifecycle
import Signalling
import Stores

/// Deletes abandoned uploads from their stores, never those that may have been published. An object that its store does
/// not delete waits alone. An unreachable store waits with all its objects, without delaying others.
struct Sweeper: Service {
  let ledger: Ledger
  let plan: PlanInForce
  let log: Logger
  let bell: Bell

  /// Uploads per claim.
  private static let batch = 64
  /// Seconds until an unreachable store, or the ledger, is tried again.
  private static let patience = 60.0
  /// The longest pause of an object that cannot be deleted, in seconds.
  private static let longestPause = 3600.0

  func run() async throws {
    var pauses = SweepPauses()
    bell.ring()
    await bell.serve {
      if pauses.restsUntil <= .now { try await sweep(&pauses) }
      if let next = pauses.next { bell.ring(in: (next - .now) / .seconds(1)) }
    } failed: { error in
      log.warning("abandoned uploads are left for later", metadata: ["error": "\(error)"])
      try? await ledger.unclaimAbandonedUploads()
      pauses.restsUntil = .now + .seconds(Self.patience)
      return Self.patience
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
    pauses.beginSweep()
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
            pauses.pause(store: upload.store, seconds: Self.patience)
          } else {
            pauses.pause(row: upload.row, first: Self.patience, longest: Self.longestPause)
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
private struct SweepPauses {
  /// Nothing is tried before.
  var restsUntil = ContinuousClock.now
  private var pausedStores: [String: ContinuousClock.Instant] = [:]
  private var pausedRows: [Int64: (failures: Int, until: ContinuousClock.Instant)] = [:]
  /// Uploads and stores to skip in this sweep.
  private(set) var rows: Set<Int64> = []
  private(set) var stores: Set<String> = []

  /// The next time to try again; nil if nothing waits.
  var next: ContinuousClock.Instant? {
    let times = pausedRows.values.map(\.until) + pausedStores.values + [restsUntil]
    return times.filter { $0 > .now }.min()
  }

  mutating func beginSweep() {
    let now = ContinuousClock.now
    pausedStores = pausedStores.filter { $0.value > now }
    stores = Set(pausedStores.keys)
    rows = Set(pausedRows.filter { $0.value.until > now }.keys)
  }

  /// Ends a sweep: removes rows whose pause was over and that did not fail again, unless their store rests.
  mutating func endSweep() {
    if stores.isEmpty { pausedRows = pausedRows.filter { rows.contains($0.key) } }
  }

  mutating func pause(store: String, seconds: Double) {
    stores.insert(store)
    pausedStores[store] = .now + .seconds(seconds)
  }

  /// Doubles the pause of a row each time.
  mutating func pause(row: Int64, first: Double, longest: Double) {
    let failures = (pausedRows[row]?.failures ?? 0) + 1
    let seconds = min(longest, first * Double(1 << min(failures - 1, 20)))
    rows.insert(row)
    pausedRows[row] = (failures, .now + .seconds(seconds))
  }

  mutating func forget(row: Int64) { pausedRows[row] = nil }
}
