import Janitor
import Ledgers
import Logging
import Messages
import ServiceLifecycle
import Signalling
import Spooling

/// Conversations that are being purged: nothing of them enters the ledger.
typealias ClosedConversations = InForce<Set<ConversationID>>

/// Purges the conversations in `purge/` as they arrive. For each: it is closed, so that nothing of it enters the
/// ledger; the tombstone is committed while neither intake nor drafts are active; its work in progress is stopped; its
/// files and rows are deleted. A failed purge stays ordered and closed, and is tried again.
struct Purger: Service, HasCore {
  let core: DeliveryCore
  let purge: PurgeRun
  let closed: ClosedConversations
  let dispatcher: Dispatcher
  let photos: PhotoPipeline
  let filing: Filing
  let receiving: PhotoReceiving?
  /// nil without a cluster.
  let cluster: ClusterOrders?
  /// Lines and files already reported as unreadable.
  private let told = InForce<[String]>([])

  /// Seconds until a failed purge is tried again.
  private static let patience = 30.0

  func run() async throws {
    let bell = signals.spool.purge
    await bell.serve {
      if await !carryOut() { bell.ring(in: Self.patience) }
    } failed: { _ in
      nil
    }
  }

  /// Carries out the present orders; false if one is left.
  func carryOut() async -> Bool {
    do {
      let (conversations, unreadable) = try await purge.ordered()
      if told.replace(with: unreadable) != unreadable {
        for line in unreadable { log.warning("a line of purge/ names no conversation", metadata: ["line": "\(line)"]) }
      }
      guard !conversations.isEmpty else { return true }
      let reserve = Reserve(spool)
      try reserve.give()
      defer { reserve.take() }
      var count = PurgeCount()
      var finished = [ConversationID]()
      for conversation in conversations {
        do {
          count += try await finish(conversation)
          finished.append(conversation)
        } catch {
          // No name: purged conversations are not logged.
          log.error("a purge is left for later", metadata: ["error": "\(error)"])
        }
      }
      guard !finished.isEmpty else { return false }
      try await purge.complete(finished)
      closed.change { $0.subtract(finished) }
      // These conversations are open again, and uploads are left to delete.
      signals.ringAll()
      for mailbox in [signals.spool.new, signals.spool.draft, signals.spool.incoming] { mailbox.postScan() }
      log.info(
        "purged",
        metadata: [
          "conversations": "\(count.conversations)", "requests": "\(count.requests)", "photos": "\(count.photos)",
        ])
      return finished.count == conversations.count
    } catch {
      log.error("purges are left for later", metadata: ["error": "\(error)"])
      return false
    }
  }

  private func finish(_ conversation: ConversationID) async throws -> PurgeCount {
    closed.change { _ = $0.insert(conversation) }
    // Afterwards nobody here would know what to cancel.
    try await cluster?.cancelAll(in: conversation)
    // Nothing is being accepted meanwhile.
    let purged = try await signals.draft.withLock {
      try await signals.new.withLock { try await purge.begin(conversation) }
    }
    if let purged { try await stop(purged) }
    return try await purge.finish(conversation, purged)
  }

  /// Stops all work on a conversation and waits for it.
  private func stop(_ purged: PurgedConversation) async throws {
    await dispatcher.stop(purged.row)
    await receiving?.receiver.release(purged.conversation)
    try await photos.discard(purged.messages)
    await filing.settle()
  }
}
