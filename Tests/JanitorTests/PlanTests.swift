import Messages
import TestSupport
import Testing

@testable import Janitor
@testable import Ledgers

/// Query plans of a janitor run and a purge: none reads all rows.
@Suite struct PlanTests {
  @Test func noStatementOfAPassOrAPurgeReadsAllRows() async throws {
    var spool = try SpoolUnderJanitor()
    for number in 0..<30 { try await spool.send("p\(number)", from: "i\(number % 3)", to: "c\(number % 5)") }
    try await spool.send("waits", to: "c1", ends: false)
    spool.settings.cache.inbox = 500
    spool.settings.cache.total = 700
    let heard = HeardStatements(of: spool.ledger.pool)
    _ = try await spool.janitor().pass()
    _ = try await spool.clear(inbox: nil, conversation: ConversationID(unchecked: "c2"))
    _ = try await PurgeRun(spool: spool.spool, ledger: spool.ledger).run([ConversationID(unchecked: "c1")])
    #expect(heard.statements.count > 20)
    for statement in heard.statements {
      let scans = try heard.scans(statement, in: spool.ledger.pool)
      #expect(scans.isEmpty, "\(statement): \(scans)")
    }
  }
}
