import Ledgers
import Messages

/// The steps of a single message, for tests of what comes before and after them.
extension Ledger {
  /// - Returns: the number of the attempt; nil when the message was cancelled or its conversation is held.
  public func beginPublishing(
    _ message: QueuedMessage, reserved: String? = nil, at now: Timestamp
  ) async throws -> Int? {
    try await end(RunEnd(next: [(message, reserved)]), at: now).attempts?.first
  }

  /// - Returns: the final state of the request when this was its last message, else nil.
  public func markSent(
    _ message: QueuedMessage, _ published: Published, at now: Timestamp
  ) async throws -> RequestState? {
    try await end(RunEnd(sent: [(message, published)]), at: now).finished.first
  }
}
