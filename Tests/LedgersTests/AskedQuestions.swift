import GRDB
import Synchronization

@testable import Ledgers

/// A question of a view, and SQLite's steps to answer it.
struct AskedQuestion {
  let sql: String
  let plan: [String]

  /// Indexes of nothing but what waits.
  private static let small = [
    "requests_queued", "messages_waiting", "conversations_parked", "conversations_held", "conversations_due",
  ]

  /// The steps that read all of one of these tables, whatever its alias. A part that only waiting rows have is not all.
  func scans(of tables: Set<String> = ["attempts", "messages", "photos", "received", "requests", "uploads"]) -> [String]
  {
    let words = sql.split { " \n(),".contains($0) }.map(String.init)
    return plan.filter { step in
      let parts = step.split(separator: " ").map(String.init)
      guard parts.first == "SCAN", parts.count > 1, !Self.small.contains(parts.last ?? "") else { return false }
      let named = zip(words, words.dropFirst()).filter { $1 == parts[1] }.map(\.0)
      return tables.contains(parts[1]) || named.contains { tables.contains($0) }
    }
  }
}

extension LedgerView {
  /// The questions that `ask` has this view ask.
  func questions(_ ask: () throws -> Void) throws -> [AskedQuestion] {
    let asked = Mutex<[String]>([])
    try read { database in
      database.trace { event in
        if case .statement(let statement) = event { asked.withLock { $0.append(statement.expandedSQL) } }
      }
    }
    try ask()
    try read { $0.trace(options: []) }
    return try asked.withLock(\.self).filter { $0.hasPrefix("SELECT") || $0.hasPrefix("WITH") }.map { question in
      try read { database in
        AskedQuestion(
          sql: question, plan: try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN \(question)").map { $0["detail"] })
      }
    }
  }
}
