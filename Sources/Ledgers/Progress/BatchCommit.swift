import GRDB
import Messages

extension Ledger {
  /// Ends a batch and begins the next one in one commit, before the network sees the next one.
  ///
  /// - Parameters:
  ///   - sent: published messages of a conversation, in order.
  ///   - untried: messages that had begun and were not given to the network.
  ///   - next: messages of the conversation that begin, in order, each with the network's reserved id, if it gives one,
  ///     and with who gets it.
  /// - Returns: the final states of requests that are complete, and the attempt numbers of the messages that began.
  ///   These are fewer if one was cancelled, and nil if the conversation is held.
  package func end(
    sent: [(message: QueuedMessage, published: Published)] = [], untried: [QueuedMessage] = [],
    thenBegin next: [(message: QueuedMessage, reserved: String?, recipient: Recipient)] = [], at now: Timestamp
  ) async throws -> (finished: [RequestState], attempts: [Int]?) {
    try await write { database in
      let finished = try database.end(sent, at: now)
      for message in untried { try database.takeBackAttempt(of: message) }
      return (finished, try database.begin(next, at: now))
    }
  }
}

extension Database {
  /// - Returns: the final states of requests that are complete.
  fileprivate func end(
    _ run: [(message: QueuedMessage, published: Published)], at now: Timestamp
  ) throws -> [RequestState] {
    guard let conversation = run.first?.message.conversationRow else { return [] }
    var count = 0
    var finished: [RequestState] = []
    for (message, published) in run where try markSent(message, published, at: now) {
      count += 1
      if let state = try endRequestIfDone(message.requestRow, at: now) { finished.append(state) }
      // The end of its request has unpinned the photo.
      if message.kind == .profile { try pin(message.message) }
    }
    try removeWaiting(count, from: conversation)
    return finished
  }

  fileprivate func begin(
    _ run: [(message: QueuedMessage, reserved: String?, recipient: Recipient)], at now: Timestamp
  ) throws -> [Int]? {
    guard let conversation = run.first?.message.conversationRow else { return [] }
    if try value("SELECT held FROM conversations WHERE id = ?", conversation) == true { return nil }
    var attempts: [Int] = []
    for (message, reserved, recipient) in run {
      guard let attempt = try beginPublishing(message, reserved: reserved, on: recipient, at: now) else { break }
      attempts.append(attempt)
    }
    return attempts
  }

  /// Undoes the start of an attempt.
  fileprivate func takeBackAttempt(of message: QueuedMessage) throws {
    _ = try move(
      message, to: .pending, setting: ", attempts = attempts - 1, begun_at = NULL, offered_to = ?",
      message.offeredTo)
  }
}
