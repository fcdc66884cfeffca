import Ledgers
import Logging
import Messages
import ServiceLifecycle
import Signalling
import Stores

/// Deletes abandoned uploads from their stores. What may have been published is never among them.
struct Sweeper: Service {
  let ledger: Ledger
  let plan: PlanInForce
  let log: Logger
  private let bell = Bell()

  /// Uploads that are looked at together.
  private static let batch = 64
  /// Seconds until a store that failed is asked again.
  private static let patience = 60.0

  init(ledger: Ledger, plan: PlanInForce, log: Logger) {
    self.ledger = ledger
    self.plan = plan
    self.log = log
  }

  /// Says that an upload may have been abandoned.
  func wake() { bell.ring() }

  func run() async throws {
    var restsUntil = ContinuousClock.now
    bell.ring()
    await bell.serve {
      // While it rests, every message that fails would have it ask again, and say again that it failed.
      if restsUntil <= .now { try await sweep() }
    } failed: { error in
      log.warning("abandoned uploads are left for later", metadata: ["error": "\(error)"])
      try? await ledger.unclaimAbandonedUploads()
      restsUntil = .now + .seconds(Self.patience)
      return Self.patience
    }
  }

  private func sweep() async throws {
    while true {
      let uploads = try await ledger.claimAbandonedUploads(limit: Self.batch)
      if uploads.isEmpty { return }
      for upload in uploads {
        guard let store = plan.destinations.store(named: upload.store) else {
          log.warning(
            "an abandoned upload stays behind: its store is configured no more",
            metadata: [
              "store": "\(upload.store)", "message": "\(upload.message)", "object": "\(upload.object)",
            ])
          try await ledger.forgetUpload(upload.row)
          continue
        }
        try await store.delete(ObjectName(unchecked: upload.object))
        try await ledger.forgetUpload(upload.row)
        // A purge leaves nothing of its messages, not even their ids.
        let message = upload.message.text.isEmpty ? "purged" : upload.message.text
        log.info("upload deleted", metadata: ["store": "\(upload.store)", "message": "\(message)"])
      }
    }
  }
}
