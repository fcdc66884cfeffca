import GRDB
import Messages

/// Conversations that wait for a destination and not for a time. None of their messages is tried until the destination
/// works again.
extension Ledger {
  /// Parks the conversation of a message that this attempt certainly did not publish. The attempt does not count. An
  /// attempt begun by a process that died stays on record, because it may have published the message.
  ///
  /// - Parameters:
  ///   - destination: the name of the store or network.
  ///   - until: the expiry of the message, when it is served in any case.
  ///   - keepsUpload: the sealed photo stays in the store for the next attempt.
  package func park(
    _ message: QueuedMessage, for destination: String, error: DeliveryError, until: Timestamp, keepsUpload: Bool,
    at now: Timestamp
  ) async throws {
    try await write { database in
      var uncounted = 0
      if message.state == .publishing {
        try database.endAttempt(of: message.message, at: now, cause: nil, error: Database.interrupted)
      } else if try database.forgetAttempt(of: message.message) {
        uncounted = 1
      }
      guard try database.move(message, to: keepsUpload ? .uploaded : .pending) else { return }
      try database.run(
        """
        UPDATE messages SET attempts = max(0, attempts - ?), next_attempt = NULL, cause = ?, error = ?,
          offered_to = iif(remote IS NULL, ?, offered_to)
        WHERE id = ?
        """, uncounted, error.cause.rawValue, error.sentence, message.offeredTo, message.row)
      try database.count(setback: error.cause)
      try database.run(
        "UPDATE conversations SET waits_for = ?, due = ? WHERE id = ?",
        destination, until.milliseconds, message.conversationRow)
    }
  }

  /// Releases all conversations that wait for a destination. Returns how many there were.
  @discardableResult
  package func release(waitingFor destination: String, at now: Timestamp) async throws -> Int {
    try await write { database in
      try database.run(
        "UPDATE conversations SET waits_for = NULL, due = ? WHERE waits_for = ?", now.milliseconds, destination)
      return database.changesCount
    }
  }

  /// Releases one conversation that waits for a destination. Its first message is the probe.
  ///
  /// - Parameter others: conversations that stay parked.
  /// - Returns: whether there was one.
  package func releaseOne(
    waitingFor destination: String, except others: Set<Int64> = [], at now: Timestamp
  ) async throws -> Bool {
    let others = "[\(others.map(String.init).joined(separator: ","))]"
    return try await write { database in
      try database.run(
        """
        UPDATE conversations SET waits_for = NULL, due = ? WHERE id =
          (SELECT id FROM conversations WHERE waits_for = ? AND waiting > 0 AND held = 0
            AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY due LIMIT 1)
        """, now.milliseconds, destination, others)
      return database.changesCount > 0
    }
  }
}
