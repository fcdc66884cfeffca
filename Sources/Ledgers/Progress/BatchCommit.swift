import GRDB
import Messages

/// What one commit says of a conversation that is being published: how messages ended that had begun together, and which
/// begin now.
package struct BatchCommit: Sendable {
  /// Those that are published, in order.
  package var sent: [(message: QueuedMessage, published: Published)]
  /// Those that had begun, and that the network was not asked to publish.
  package var untried: [QueuedMessage]
  /// Those that begin, in order, each with the network's id of it, where it gives one before.
  package var next: [(message: QueuedMessage, reserved: String?)]

  package init(
    sent: [(message: QueuedMessage, published: Published)] = [], untried: [QueuedMessage] = [],
    next: [(message: QueuedMessage, reserved: String?)] = []
  ) {
    self.sent = sent
    self.untried = untried
    self.next = next
  }
}

extension Ledger {
  /// Ends what had begun, and begins what is next, in one commit: before the network hears of that.
  ///
  /// - Returns: the final states of the requests whose last message was sent; and the numbers of the attempts of those that
  ///   have begun: of fewer than were to when one of them was cancelled; nil when the conversation is held.
  package func end(_ batch: BatchCommit, at now: Timestamp) async throws -> (finished: [RequestState], attempts: [Int]?)
  {
    try await write { database in
      let finished = try database.end(batch.sent, at: now)
      for message in batch.untried { try database.takeBackAttempt(of: message) }
      return (finished, try database.begin(batch.next, at: now))
    }
  }
}

extension Database {
  /// - Returns: the final states of the requests whose last message was sent.
  fileprivate func end(
    _ run: [(message: QueuedMessage, published: Published)], at now: Timestamp
  ) throws -> [RequestState] {
    guard let conversation = run.first?.message.conversationRow else { return [] }
    var count = 0
    var finished: [RequestState] = []
    for (message, published) in run where try markSent(message, published, at: now) {
      count += 1
      if let state = try endRequestIfDone(message.requestRow, at: now) { finished.append(state) }
      // The end of its request has let its photo go.
      if message.kind == .profile { try pin(message.message) }
    }
    try removeWaiting(count, from: conversation)
    return finished
  }

  fileprivate func begin(_ run: [(message: QueuedMessage, reserved: String?)], at now: Timestamp) throws -> [Int]? {
    guard let conversation = run.first?.message.conversationRow else { return [] }
    if try value("SELECT held FROM conversations WHERE id = ?", conversation) == true { return nil }
    var attempts: [Int] = []
    for (message, reserved) in run {
      guard let attempt = try beginPublishing(message, reserved: reserved, at: now) else { break }
      attempts.append(attempt)
    }
    return attempts
  }

  /// As if it had not begun.
  fileprivate func takeBackAttempt(of message: QueuedMessage) throws {
    _ = try move(message, to: .pending, setting: ", attempts = attempts - 1, begun_at = NULL")
  }
}
