import GRDB
import Messages

/// One line of `photos --received`.
public struct ReceivedRecord: Sendable {
  public let message: MessageID
  /// The id of its message on its network.
  public let remote: String
  public let inbox: String
  public let conversation: String
  /// Nil when nobody said so.
  public let sender: String?
  public let state: ReceivedState
  public let isHidden: Bool
  /// Of the photo once it was fetched, of its object as announced before that; nil when that was not said.
  public let bytes: Int?
  public let attempts: Int
  public let nextAttempt: Timestamp?
  public let cause: String?
  public let error: String?
  public let receivedAt: Timestamp
}

extension LedgerView {
  /// Visits the photos that others announced, in the order in which they were received. Memory does not grow with their
  /// number.
  public func forEachReceived(
    inbox: String?, conversation: String?, _ visit: (ReceivedRecord) throws -> Void
  ) throws {
    var conditions = ["r.own = 0 AND r.state <> 'forgotten'"]
    if inbox != nil { conditions.append("r.inbox = ?") }
    if conversation != nil { conditions.append("c.conversation = ?") }
    try read { database in
      let rows = try Row.fetchCursor(
        database,
        sql: """
          SELECT r.*, c.conversation, coalesce(p.bytes, r.attachment ->> '$.contentLength') AS bytes
            FROM received r JOIN conversations c ON c.id = r.conversation_id LEFT JOIN photos p ON p.message = r.message
          WHERE \(conditions.joined(separator: " AND ")) ORDER BY r.id
          """,
        arguments: StatementArguments([inbox, conversation].compactMap { $0 }))
      while let row = try rows.next() {
        try visit(
          ReceivedRecord(
            message: MessageID(unchecked: row["message"]), remote: row["remote"], inbox: row["inbox"],
            conversation: row["conversation"], sender: row["sender"],
            state: ReceivedState(rawValue: row["state"]) ?? .failed,
            isHidden: row["revealed_at"] as Int64? == nil, bytes: row["bytes"], attempts: row["attempts"],
            nextAttempt: (row["next_attempt"] as Int64?).map(Timestamp.init(milliseconds:)), cause: row["cause"],
            error: row["error"], receivedAt: Timestamp(milliseconds: row["received_at"])))
      }
    }
  }
}
