import GRDB
import Messages

extension Ledger {
  /// Sets back what a process that died had in hand. The keys of its uploads died with it, so that those are abandoned
  /// and their messages start again; a message that was being published keeps its state and is looked for first.
  ///
  /// Costs as much as was in hand and as waits for a retry, not as much as waits.
  ///
  /// - Returns: how many messages were set back.
  package func recover(at now: Timestamp) async throws -> Int {
    try await write { database in
      // Whether a destination works is found out anew.
      try database.execute(
        sql: "UPDATE conversations SET waits_for = NULL, due = ? WHERE waits_for IS NOT NULL",
        arguments: [now.milliseconds])
      try Self.forgetFuture(at: now, in: database)
      try database.execute(
        sql: "UPDATE uploads SET state = 'abandoned' WHERE state = 'started' OR state = 'deleting'")
      try database.execute(sql: "UPDATE messages SET state = 'pending' WHERE \(LedgerSchema.inHand)")
      return database.changesCount
    }
  }
}
