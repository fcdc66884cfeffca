import GRDB
import Messages

/// The one place where a message changes its state.
extension Database {
  /// Moves a message to `state`; false, and nothing changed, when it is final already: it was cancelled or purged. Where
  /// `state` is final, whoever calls counts it out of what waits.
  ///
  /// A text is known by its row, as rows are never used again. A photo is known by its id, its conversation and the digest of
  /// its file: Send gives the photos of a draft new rows, in their place in the order of arrival, while they are on their way,
  /// and a photo that was replaced is another.
  ///
  /// - Parameters:
  ///   - more: what else is set, as `, attempts = ?`.
  ///   - values: what stands for its question marks.
  func move<each Value: SQLiteValue>(
    _ message: QueuedMessage, to state: MessageState, setting more: String = "", _ values: repeat each Value
  ) throws -> Bool {
    if message.kind.hasPhoto {
      try run(
        """
        UPDATE OR FAIL messages SET state = ?\(more)
        WHERE message = ? AND digest = ? AND conversation_id = ? AND \(LedgerSchema.waiting)
        """, state.rawValue, repeat each values, message.message.text, message.digest, message.conversationRow)
    } else {
      try run(
        "UPDATE OR FAIL messages SET state = ?\(more) WHERE id = ? AND \(LedgerSchema.waiting)",
        state.rawValue, repeat each values, message.row)
    }
    return changesCount == 1
  }

  /// Ends all that still waits of a request as `state`; answers how many messages that were.
  @discardableResult
  func endWaiting(ofRequest request: Int64, conversation: Int64, as state: MessageState, where condition: String)
    throws -> Int
  {
    try run(
      "UPDATE messages SET state = ?, next_attempt = NULL WHERE request_id = ? AND \(condition)",
      state.rawValue, request)
    let count = changesCount
    try removeWaiting(count, from: conversation)
    return count
  }

  /// Ends the request when none of its messages waits any more.
  ///
  /// - Returns: its final state; nil while it goes on.
  func endRequestIfDone(_ request: Int64, at now: Timestamp) throws -> RequestState? {
    for (state, end) in Self.ends {
      try run(end, state.rawValue, now.milliseconds, request)
      guard changesCount == 1 else { continue }
      try count(state)
      if state == .sent { try endDuplicates(of: request, at: now) }
      return state
    }
    return nil
  }

  /// How a request ends whose messages end one by one: nearly each by the first. None of them has failed; that ends the
  /// request at once (`Ledger.fail`).
  private static let ends: [(RequestState, String)] = [
    (.sent, end(where: "NOT EXISTS (SELECT 1 FROM messages WHERE request_id = requests.id AND state <> 'sent')")),
    (
      .cancelled,
      end(
        where: """
          NOT EXISTS (SELECT 1 FROM messages WHERE request_id = requests.id AND \(LedgerSchema.waiting))
            AND EXISTS (SELECT 1 FROM messages WHERE request_id = requests.id AND state = 'cancelled')
          """)
    ),
  ]

  private static func end(where condition: String) -> String {
    "UPDATE OR FAIL requests SET state = ?, finished_at = ? WHERE id = ? AND state = 'queued' AND \(condition)"
  }

  /// Notes how the running attempt of a message ended, unless it succeeded: that one stays in the message's own row.
  ///
  /// - Returns: whether there was one.
  @discardableResult
  func endAttempt(of message: MessageID, at now: Timestamp, cause: Cause?, error: String) throws -> Bool {
    try run(
      """
      INSERT INTO attempts (message, number, step, started_at, ended_at, cause, error)
      SELECT message, attempts, 'publish', begun_at, ?, ?, ? FROM messages WHERE message = ? AND \(Self.hasAttempt)
      """, now.milliseconds, cause?.rawValue, error, message.text)
    return try changesCount > 0 && forgetAttempt(of: message)
  }

  /// The running attempt of a message has not been one.
  ///
  /// - Returns: whether there was one.
  func forgetAttempt(of message: MessageID) throws -> Bool {
    try run("UPDATE messages SET begun_at = NULL WHERE message = ? AND \(Self.hasAttempt)", message.text)
    return changesCount > 0
  }

  /// One that has not succeeded.
  private static let hasAttempt = "begun_at IS NOT NULL AND state <> 'sent'"

  /// What is known of an attempt that a process began which died.
  static let interrupted = "interrupted; its outcome is not known"
}
