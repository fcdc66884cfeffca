import Janitor
import Ledgers
import Messages
import ServiceLifecycle
import Signalling

/// Clears the cache by order of a client, one order after another. When the daemon stops, the order in progress ends
/// after its present slice. A client that goes away does not end its order.
struct Clearer: Service {
  let clearing: CacheClearing
  private let turn = AsyncMutex()
  private let isStopping = OneWayFlag()

  /// As `CacheClearing.run`.
  func clear(inbox: InboxID?, conversation: ConversationID?) async throws -> (count: EvictionCount, isDone: Bool) {
    try await turn.withLock { [clearing, isStopping] in
      try await clearing.run(inbox: inbox, conversation: conversation) { isStopping.isSet }
    }
  }

  func run() async throws {
    try? await gracefulShutdown()
    isStopping.set()
    // The ledger closes after this.
    await turn.withLock {}
  }
}
