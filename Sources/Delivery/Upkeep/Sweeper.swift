import Ledgers
import Logging
import Messages
import ServiceLifecycle
import Signalling
import Stores

/// Deletes abandoned uploads from their stores. What may have been published is never among them.
///
/// An object that its store refuses to delete waits alone. A store that cannot be reached waits with all of its objects,
/// and keeps no other store waiting.
struct Sweeper: Service {
  let ledger: Ledger
  let plan: PlanInForce
  let log: Logger
  let bell: Bell

  /// Uploads that are claimed together.
  private static let batch = 64
  /// Seconds until a store that cannot be reached, or the ledger, is asked again.
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
        // It failed for another one of the batch.
        if pauses.stores.contains(upload.store) {
          try await ledger.unclaimAbandonedUpload(upload.row)
          continue
        }
        do { try await delete(upload) } catch let error as DeliveryError {
          try await ledger.unclaimAbandonedUpload(upload.row)
          left[upload.store, default: (0, error)].count += 1
          if CircuitPolicy(plan.delivery).isOfTheLine(error.cause) {
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
    // A purge leaves nothing of its messages, not even their ids.
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

/// Which abandoned uploads are left alone for a while.
private struct SweepPauses {
  /// Everything rests until then.
  var restsUntil = ContinuousClock.now
  private var pausedStores: [String: ContinuousClock.Instant] = [:]
  private var pausedRows: [Int64: (failures: Int, until: ContinuousClock.Instant)] = [:]
  /// The uploads and stores that are not to be asked for in this sweep.
  private(set) var rows: Set<Int64> = []
  private(set) var stores: Set<String> = []

  /// When something may be tried again; nil while nothing waits for that.
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

  /// All that may be tried was tried: rows whose pause was over before it and that did not fail again are gone, unless
  /// their store rests.
  mutating func endSweep() {
    if stores.isEmpty { pausedRows = pausedRows.filter { rows.contains($0.key) } }
  }

  mutating func pause(store: String, seconds: Double) {
    stores.insert(store)
    pausedStores[store] = .now + .seconds(seconds)
  }

  /// Each pause of a row is twice as long as the one before it.
  mutating func pause(row: Int64, first: Double, longest: Double) {
    let failures = (pausedRows[row]?.failures ?? 0) + 1
    let seconds = min(longest, first * Double(1 << min(failures - 1, 20)))
    rows.insert(row)
    pausedRows[row] = (failures, .now + .seconds(seconds))
  }

  mutating func forget(row: Int64) { pausedRows[row] = nil }
}
