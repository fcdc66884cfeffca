import GRDB
import Messages
import Synchronization
import Testing

@testable import Janitor
@testable import Ledgers

/// SQLite is asked how it would answer every question of a pass and of a purge: none of them looks at all that is kept.
@Suite struct PlanTests {
  /// Tables that grow with what is kept.
  private static let large = [
    "photos", "requests", "messages", "attempts", "uploads", "received", "conversations",
  ]

  /// The statements that `body` has the ledger carry out.
  private func statements(of ledger: Ledger, _ body: () async throws -> Void) async throws -> Set<String> {
    let heard = Heard()
    try await ledger.pool.writeWithoutTransaction { heard.listen(to: $0) }
    // Questions one after the other have one connection.
    try await ledger.pool.read { heard.listen(to: $0) }
    try await body()
    return heard.statements.withLock { $0 }
  }

  private final class Heard: Sendable {
    let statements = Mutex(Set<String>())

    func listen(to database: Database) {
      database.trace { event in
        if case .statement(let statement) = event { self.statements.withLock { _ = $0.insert(statement.sql) } }
      }
    }
  }

  /// The tables that SQLite would look through from end to end for a statement.
  private func scans(_ statement: String, in ledger: Ledger) async throws -> [String] {
    guard ["SELECT", "UPDATE", "DELETE", "INSERT"].contains(where: statement.hasPrefix) else { return [] }
    return try await ledger.pool.writeWithoutTransaction { database in
      let plan = try database.makeStatement(sql: "EXPLAIN QUERY PLAN \(statement)")
      plan.setUncheckedArguments([])
      // An index of a part of the rows holds what is asked for and nothing else.
      let partial = try String.fetchAll(
        database, sql: "SELECT name FROM sqlite_master WHERE type = 'index' AND sql LIKE '% WHERE %'")
      return try Row.fetchAll(plan).compactMap { $0["detail"] as String? }.filter { detail in
        Self.large.contains { detail == "SCAN \($0)" || detail.hasPrefix("SCAN \($0) USING") }
          && !partial.contains { detail.hasSuffix("INDEX \($0)") }
      }
    }
  }

  @Test func noStatementOfAPassOrAPurgeLooksAtAllThatIsKept() async throws {
    var spool = try SpoolUnderJanitor()
    for number in 0..<30 { try await spool.send("p\(number)", from: "i\(number % 3)", to: "c\(number % 5)") }
    try await spool.send("waits", to: "c1", ends: false)
    spool.options.inboxBytes = 500
    spool.options.totalBytes = 700
    let kept = spool
    let statements = try await statements(of: spool.ledger) {
      _ = try await kept.janitor().pass()
      _ = try await kept.janitor().clear(inbox: nil, conversation: ConversationID(unchecked: "c2"))
      _ = try await Purge(spool: kept.spool, ledger: kept.ledger).run([ConversationID(unchecked: "c1")])
    }
    #expect(statements.count > 20)
    for statement in statements {
      let scans = try await scans(statement, in: spool.ledger)
      #expect(scans.isEmpty, "\(statement): \(scans)")
    }
  }
}
