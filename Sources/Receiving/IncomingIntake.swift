import Blocking
import Digests
import Ledgers
import Logging
import Messages
import Spooling

/// Takes messages of bridges into the ledger. Nothing else reads `incoming/new/`. Order: read and check; commit the
/// ledger's transaction, which receives the message; rename the directory out of `new/`; delete it. After a crash in
/// between, the directory is found again, recognised by inbox and message, and removed.
struct IncomingIntake: Sendable {
  let incoming: IncomingSpool
  let ledger: Ledger
  let plan: @Sendable () -> ReceivingPlan
  let log: Logger
  let pool = BlockingPool(label: "incoming", threads: 1)

  /// Messages in one transaction.
  static let batch = 64

  /// Accepts or refuses the named entries. Missing ones are skipped.
  func accept(_ names: [String]) async throws {
    for start in stride(from: 0, to: names.count, by: Self.batch) {
      let slice = names[start..<min(start + Self.batch, names.count)]
      let batch = try await pool.run { try slice.compactMap { try read($0) } }
      if batch.isEmpty { continue }
      let receptions = try await ledger.receive(
        batch.map(\.message), fetch: plan().settings.receiving.fetch, at: .now())
      for ((name, message), reception) in zip(batch, receptions) {
        switch reception {
        case .accepted(let photos, let state):
          try incoming.remove(name)
          log.info(
            "received",
            metadata: [
              "message": "\(photos.map(\.text).joined(separator: ","))", "inbox": "\(escaped(message.inbox.text))",
              "conversation": "\(escaped(message.conversation.text))", "state": "\(state.rawValue)",
            ])
        case .known: try incoming.remove(name)
        case .conflict:
          try refuse(
            Array(name.utf8),
            "the message \(escaped(message.remote)) was received before with another attachment or conversation; that one stays"
          )
        case .purged: break
        }
      }
    }
  }

  private func read(_ name: String) throws -> (name: String, message: NewReceived)? {
    do {
      guard let found = try incoming.read(name) else { return nil }
      let announced = try AttachmentReader.read(found.attachment)
      return (
        name,
        NewReceived(
          inbox: found.inbox ?? plan().settings.inbox, conversation: found.conversation, remote: found.message.text,
          sender: found.sender ?? announced.sender,
          digest: SHA256Digest(of: found.attachment), photos: announced.photos)
      )
    } catch let refusal as Refusal {
      try refuse(Array(name.utf8), refusal.description)
    } catch let error as DeliveryError {
      try refuse(Array(name.utf8), "\(error)")
    }
    return nil
  }

  /// Moves an invalid entry to `incoming/failed/`.
  func refuse(_ name: [UInt8], _ sentence: String) throws {
    guard let failed = try incoming.refuse(name, because: sentence) else { return }
    log.warning("cannot be received", metadata: ["name": "\(failed)", "error": "\(escaped(sentence))"])
  }
}
