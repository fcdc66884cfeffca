import Foundation
import GRDB
import Synchronization

/// The statements of a ledger, with SQLite's query plans.
package final class HeardStatements: Sendable {
  private let heard = Mutex(Set<String>())

  /// Tables that grow with kept data.
  private static let large = [
    "photos", "requests", "messages", "attempts", "uploads", "received", "conversations",
  ]

  package init(of pool: DatabasePool) {
    pool.writeWithoutTransaction { listen(to: $0) }
    // Each concurrent query has its own connection.
    let (asking, asked) = (DispatchGroup(), DispatchGroup())
    let count = pool.configuration.maximumReaderCount
    for _ in 0..<count {
      asking.enter()
      asked.enter()
    }
    for _ in 0..<count {
      Thread.detachNewThread { [self] in
        var hasAsked = false
        try? pool.unsafeRead {
          listen(to: $0)
          hasAsked = true
          asking.leave()
          asking.wait()
        }
        if !hasAsked { asking.leave() }
        asked.leave()
      }
    }
    asked.wait()
  }

  private func listen(to database: Database) {
    database.trace { [self] event in
      if case .statement(let statement) = event { heard.withLock { _ = $0.insert(statement.sql) } }
    }
  }

  /// Recorded statements that read or change rows.
  package var statements: Set<String> {
    heard.withLock { $0 }.filter { statement in
      ["SELECT", "UPDATE", "DELETE", "INSERT"].contains { statement.hasPrefix($0) }
    }
  }

  private func plan(of statement: String, in pool: DatabasePool) throws -> [String] {
    try pool.writeWithoutTransaction { database in
      let plan = try database.makeStatement(sql: "EXPLAIN QUERY PLAN \(statement)")
      plan.setUncheckedArguments([])
      return try Row.fetchAll(plan).compactMap { $0["detail"] as String? }
    }
  }

  /// The tables that a statement reads completely.
  package func scans(_ statement: String, in pool: DatabasePool) throws -> [String] {
    // A partial index contains only matching rows.
    let partial = try pool.read { database in
      try String.fetchAll(
        database, sql: "SELECT name FROM sqlite_master WHERE type = 'index' AND sql LIKE '% WHERE %'")
    }
    return try plan(of: statement, in: pool).filter { detail in
      let words = detail.split(separator: " ")
      return words.first == "SCAN" && !partial.contains { detail.hasSuffix("INDEX \($0)") }
        && words.dropFirst().first.map { Self.large.contains(table(called: String($0), in: statement)) } == true
    }
  }

  /// Indexes of finished rows that a statement would read.
  package func histories(_ statement: String, in pool: DatabasePool) throws -> [String] {
    try plan(of: statement, in: pool).filter { step in
      ["messages_conversation", "requests_conversation", "requests_over"].contains { step.contains("INDEX \($0)") }
        || step.hasPrefix("SCAN") && step.contains("INDEX requests_key")
    }
  }

  /// Sorts by SQLite, which need all rows before the first.
  package func sorts(_ statement: String, in pool: DatabasePool) throws -> [String] {
    try plan(of: statement, in: pool).filter { $0.contains("TEMP B-TREE") }
  }

  private func table(called name: String, in statement: String) -> String {
    let words = statement.split { " \n(),".contains($0) }
    return zip(words, words.dropFirst()).first { $1 == name && Self.large.contains(String($0)) }.map { String($0.0) }
      ?? name
  }
}
