import Ledgers
import Messages

/// The steps of a single message, for tests of other steps.
extension Ledger {
  /// - Returns: the number of the attempt; nil if the message was cancelled or its conversation is held.
  package func beginPublishing(
    _ message: QueuedMessage, reserved: String? = nil, on recipient: Recipient? = nil, at now: Timestamp
  ) async throws -> Int? {
    let recipient = recipient ?? Recipient(network: "local", address: message.conversation.address)
    return try await end(thenBegin: [(message, reserved, recipient)], at: now).attempts?.first
  }

  /// - Returns: the final state of the request after its last message, else nil.
  package func markSent(
    _ message: QueuedMessage, _ published: Published, at now: Timestamp
  ) async throws -> RequestState? {
    try await end(sent: [(message, published)], at: now).finished.first
  }

  /// Accepts requests as intake does: one whose name is taken gets another.
  package func acceptRenaming(_ requests: [NewRequest], at now: Timestamp) async throws -> [Acceptance] {
    var (requests, number) = (requests, 1)
    while true {
      do { return try await accept(requests, at: now) } catch let error as NamesTaken {
        number += 1
        for index in error.indices { requests[index].name = "\(requests[index].droppedAs).\(number)" }
      }
    }
  }

  /// Sends all waiting messages of the first conversation, up to a duplicate.
  package func publishAll(at now: Timestamp) async throws {
    while let message = try await head(of: 1, limit: 1).first, !message.isDuplicate {
      _ = try await beginPublishing(message, at: now)
      _ = try await markSent(message, Published(at: now), at: now)
    }
  }
}
