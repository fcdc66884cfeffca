import GRDB
import Messages

extension Ledger {
  /// Resets the work of a process that died. Its upload keys are lost, so those uploads are abandoned and their
  /// messages start again. A message that was being published keeps its state and is looked up first. The cost depends
  /// on the work in progress and the waiting retries, not on the queue. Returns how many messages were reset.
  package func recover(at now: Timestamp) async throws -> Int {
    try await write { database in
      // Circuits start closed.
      try database.run(
        "UPDATE conversations SET waits_for = NULL, due = ? WHERE waits_for IS NOT NULL", now.milliseconds)
      try Self.forgetFuture(at: now, in: database)
      try database.run("UPDATE uploads SET state = 'abandoned' WHERE state = 'started' OR state = 'deleting'")
      try database.run("UPDATE messages SET state = 'pending' WHERE \(LedgerSchema.inHand)")
      return database.changesCount
    }
  }
}
