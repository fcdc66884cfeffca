import Messages
import Synchronization
import TestSupport
import Testing

@testable import Delivery
@testable import Ledgers

/// Query plans of all statements of a daemon: none reads all rows or sorts the queue.
@Suite(.timeLimit(.minutes(5))) struct PlanTests {
  @Test func noStatementOfADeliveryReadsAllRows() async throws {
    let network = ScriptedNetwork { message in
      switch message.address.text {
      case "refused": DeliveryError(.rejected, "no")
      case "held up": DeliveryError(.serverBusy, "not now")
      default: nil
      }
    }
    let daemon = try DaemonUnderTest(network: network, store: HeldStore(), preparer: EasyPreparer()) {
      $0.delivery.backoff = RetryPolicy(first: .milliseconds(10), longest: .milliseconds(50))
    }
    let heard = Mutex<HeardStatements?>(nil)
    try await daemon.run(hear: { ledger in heard.withLock { $0 = HeardStatements(of: ledger.pool) } }) {
      daemon in
      for number in 0..<40 { try daemon.drop("\(number)", to: "c\(number % 5)") }
      let requests = [
        try daemon.drop("a", to: "refused"), try daemon.drop("b", to: "held up"), try daemon.sendPhoto(to: "c1"),
        try daemon.drop("once", to: "c2", key: "key"), try daemon.drop("once", to: "c2", key: "key"),
      ]
      let draft = try daemon.draft(to: "c3")
      while try daemon.story(of: draft)?.state != .draft { await Task.yield() }
      try #require(try daemon.spool.draft.move(draft, to: daemon.spool.new, as: draft))
      for request in requests + [draft] where request != requests[1] {
        while try daemon.spool.sent.entry(request) == nil && daemon.spool.failed.entry(request) == nil {
          await Task.yield()
        }
      }
      while try daemon.story(of: requests[1])?.messages.first?.attempts.isEmpty != false { await Task.yield() }
    }
    let statements = try #require(heard.withLock { $0 })
    for part in [
      "INDEXED BY messages_waiting", "due <= ?", "filed = 0", "m.draft = 1", "idempotency_key = ?", "inode = ?",
      "INSERT INTO attempts", "begun_at IS NOT NULL", "UPDATE requests", "UPDATE uploads",
    ] {
      #expect(statements.statements.contains { $0.contains(part) }, "\(part) was not heard")
    }
    let ledger = try Ledger(in: daemon.spool.state)
    for statement in statements.statements {
      let dear = try [statements.scans, statements.sorts, statements.histories].flatMap {
        try $0(statement, ledger.pool)
      }
      #expect(dear.isEmpty, "\(statement): \(dear)")
    }
  }
}
