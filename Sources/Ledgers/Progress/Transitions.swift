import GRDB
import Messages

/// The only code that changes the state of a message.
extension Database {
  /// Moves a message to `state`. Returns false, without a change, if it is final: cancelled or purged. If `state` is
  /// final, the caller subtracts it from the waiting count.
  ///
  /// A text is identified by its row, because rows are never reused. A photo is identified by id, conversation and
  /// digest of its file: Send gives the photos of a draft new rows while they are in progress, and a replaced photo is
  /// another one.
  ///
  /// - Parameters:
  ///   - more: further assignments, as `, attempts = ?`.
  ///   - values: their values.
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

  /// Cancels the messages of a request that are not over, or those of them that `condition` chooses.
  func cancelWaiting(
    ofRequest request: Int64, in conversation: Int64, where condition: String = LedgerSchema.waiting
  ) throws {
    try run(
      "UPDATE messages SET state = 'cancelled', next_attempt = NULL WHERE request_id = ? AND \(condition)", request)
    try removeWaiting(changesCount, from: conversation)
  }

  /// Ends the request if none of its messages waits. Returns its final state; nil if it goes on.
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

  /// Final states of requests by those of their messages, most frequent first. None has failed: that ends the request
  /// at once (`Ledger.fail`).
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

  /// Records how the running attempt ended, unless it succeeded: that one stays in the message's own row. Returns
  /// whether there was one.
  @discardableResult
  func endAttempt(of message: MessageID, at now: Timestamp, cause: Cause?, error: String) throws -> Bool {
    let running: (number: Int, begunAt: Timestamp)? = try first(
      "SELECT attempts, begun_at FROM messages WHERE message = ? AND \(Self.hasAttempt)", message
    ) { ($0["attempts"], $0["begun_at"]) }
    guard let running else { return false }
    try insertAttempt(
      running.number, of: message, step: "publish", from: running.begunAt, to: now, cause: cause, error: error)
    return try forgetAttempt(of: message)
  }

  func insertAttempt(
    _ number: Int, of message: MessageID, step: String, from begin: Timestamp, to end: Timestamp, cause: Cause?,
    error: String
  ) throws {
    try run(
      """
      INSERT INTO attempts (message, number, step, started_at, ended_at, cause, error) VALUES (?, ?, ?, ?, ?, ?, ?)
      """, message, number, step, begin, end, cause, error)
  }

  /// Removes the running attempt. Returns whether there was one.
  func forgetAttempt(of message: MessageID) throws -> Bool {
    try run("UPDATE messages SET begun_at = NULL WHERE message = ? AND \(Self.hasAttempt)", message.text)
    return changesCount > 0
  }

  /// A running attempt.
  private static let hasAttempt = "begun_at IS NOT NULL AND state <> 'sent'"

  /// The error of an attempt whose process died.
  static let interrupted = "interrupted; its outcome is not known"
}
