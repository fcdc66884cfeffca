import Foundation
import GRDB
import Synchronization

/// The statements that a ledger carries out, of which SQLite is asked how it does so.
package final class HeardStatements: Sendable {
  private let heard = Mutex(Set<String>())

  /// Tables that grow with what is kept.
  private static let large = [
    "photos", "requests", "messages", "attempts", "uploads", "received", "conversations",
  ]

  /// Hears all from now on.
  package init(of pool: DatabasePool) {
    pool.writeWithoutTransaction { listen(to: $0) }
    // Each of as many questions at once has a connection of its own.
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

  /// What was heard that asks for rows or changes them.
  package var statements: Set<String> {
    heard.withLock { $0 }.filter { statement in
      ["SELECT", "UPDATE", "DELETE", "INSERT"].contains { statement.hasPrefix($0) }
    }
  }

  /// How SQLite would carry a statement out, step by step.
  private func plan(of statement: String, in pool: DatabasePool) throws -> [String] {
    try pool.writeWithoutTransaction { database in
      let plan = try database.makeStatement(sql: "EXPLAIN QUERY PLAN \(statement)")
      plan.setUncheckedArguments([])
      return try Row.fetchAll(plan).compactMap { $0["detail"] as String? }
    }
  }

  /// The tables that SQLite would look through from end to end for a statement.
  package func scans(_ statement: String, in pool: DatabasePool) throws -> [String] {
    // An index of a part of the rows holds what is asked for and nothing else.
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

  /// Indexes of what is over, in a conversation or in all, that a statement would go through.
  package func histories(_ statement: String, in pool: DatabasePool) throws -> [String] {
    try plan(of: statement, in: pool).filter { step in
      ["messages_conversation", "requests_conversation", "requests_over"].contains { step.contains("INDEX \($0)") }
        || step.hasPrefix("SCAN") && step.contains("INDEX requests_key")
    }
  }

  /// What SQLite would put in order by itself, which takes all of it to be read before the first row is there.
  package func sorts(_ statement: String, in pool: DatabasePool) throws -> [String] {
    try plan(of: statement, in: pool).filter { $0.contains("TEMP B-TREE") }
  }

  /// The table of an alias, as in `messages m`.
  private func table(called name: String, in statement: String) -> String {
    let words = statement.split { " \n(),".contains($0) }
    return zip(words, words.dropFirst()).first { $1 == name && Self.large.contains(String($0)) }.map { String($0.0) }
      ?? name
  }
}
