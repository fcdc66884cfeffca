import GRDB
import Messages

/// The one place where a message changes its state.
extension Database {
  /// Moves a message to `state`; false, and nothing changed, when it is final already: it was cancelled or purged.
  ///
  /// A message is known by its id, its conversation and the digest of its file: Send gives the photos of a draft new
  /// rows, in their place in the order of arrival, while they are on their way, and a photo that was replaced is another.
  ///
  /// - Parameters:
  ///   - more: what else is set, as `, attempts = ?`.
  ///   - values: what stands for its question marks.
  func move(
    _ message: QueuedMessage, to state: MessageState, setting more: String = "",
    _ values: StatementArguments = StatementArguments()
  ) throws -> Bool {
    try run(
      """
      UPDATE OR FAIL messages SET state = ?\(more)
      WHERE message = ? AND digest = ? AND conversation_id = ? AND \(LedgerSchema.waiting)
      """, [state.rawValue] + values + [message.message.text, message.digest, message.conversationRow])
    guard changesCount == 1 else { return false }
    if state.isFinal { try removeWaiting(1, from: message.conversationRow) }
    return true
  }

  /// Ends all that still waits of a request as `state`; answers how many messages that were.
  @discardableResult
  func endWaiting(ofRequest request: Int64, conversation: Int64, as state: MessageState, where condition: String)
    throws -> Int
  {
    try run(
      "UPDATE messages SET state = ?, next_attempt = NULL WHERE request_id = ? AND \(condition)",
      [state.rawValue, request])
    let count = changesCount
    try removeWaiting(count, from: conversation)
    return count
  }

  /// Ends the request when none of its messages waits any more.
  ///
  /// - Returns: its final state; nil while it goes on.
  func endRequestIfDone(_ request: Int64, at now: Timestamp) throws -> RequestState? {
    let end = try String.fetchOne(
      kept(
        """
        SELECT CASE WHEN count(*) FILTER (WHERE \(LedgerSchema.waiting)) > 0 THEN NULL
          WHEN count(*) FILTER (WHERE state = 'cancelled') > 0 THEN 'cancelled' ELSE 'sent' END
        FROM messages WHERE request_id = ?
        """),
      arguments: [request])
    guard let state = end.flatMap(RequestState.init(rawValue:)) else { return nil }
    try run(
      "UPDATE OR FAIL requests SET state = ?, finished_at = ? WHERE id = ? AND state = 'queued'",
      [state.rawValue, now.milliseconds, request])
    return state
  }

  /// Notes how the running attempt of a message ended.
  func endAttempt(of message: MessageID, at now: Timestamp, cause: Cause?, error: String?) throws {
    try run(
      "UPDATE attempts SET ended_at = ?, cause = ?, error = ? WHERE message = ? AND ended_at IS NULL",
      [now.milliseconds, cause?.rawValue, error, message.text])
  }
}
