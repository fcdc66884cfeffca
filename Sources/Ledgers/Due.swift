import GRDB
import Messages

extension Ledger {
  /// The conversations that may be served now: not held, not waiting for a retry, longest due first.
  public func dueConversations(at now: Timestamp, limit: Int) async throws -> [Int64] {
    try await read { database in
      try Int64.fetchAll(
        database,
        sql: """
          SELECT id FROM conversations WHERE waiting > 0 AND held = 0 AND due <= ? ORDER BY due LIMIT ?
          """,
        arguments: [now.milliseconds, limit])
    }
  }

  /// When the next conversation that waits for a retry becomes due; nil when none waits.
  public func nextDue(after now: Timestamp) async throws -> Timestamp? {
    try await read { database in
      try Int64.fetchOne(
        database,
        sql: "SELECT due FROM conversations WHERE waiting > 0 AND held = 0 AND due > ? ORDER BY due LIMIT 1",
        arguments: [now.milliseconds]
      ).map(Timestamp.init(milliseconds:))
    }
  }

  /// Sends a conversation to the end of the line of those that are due.
  public func sendToBack(_ conversation: Int64, at now: Timestamp) async throws {
    try await write { database in
      try database.execute(
        sql: "UPDATE conversations SET due = max(due, ?) WHERE id = ?", arguments: [now.milliseconds, conversation])
    }
  }

  /// Mends what a clock that was set back leaves behind: nothing may be due later than `latest`.
  public func clampDue(to latest: Timestamp) async throws {
    try await write { database in
      try database.execute(
        sql: "UPDATE conversations SET due = ? WHERE waiting > 0 AND held = 0 AND due > ?",
        arguments: [latest.milliseconds, latest.milliseconds])
    }
  }
}
