import GRDB

/// Statements that are asked again and again. A connection keeps their plans: to make one takes longer than to run it,
/// most of all where triggers count along. The text of such a statement has no values in it, and is one of a few.
///
/// The hottest of them say OR FAIL: SQLite then does not make ready to take back a statement by itself, which took it a
/// fifth of the statement's time. What a statement that failed has done goes with its whole change (`GroupCommit`).
extension Database {
  /// A statement whose plan is kept. Not for one that runs while its own rows are still being read.
  func kept(_ sql: String) throws -> Statement { try cachedStatement(sql: sql) }

  /// Runs a statement whose plan is kept.
  func run(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
    try kept(sql).execute(arguments: arguments)
  }
}
