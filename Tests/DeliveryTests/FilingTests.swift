import Blocking
import DurableFiles
import Foundation
import Ledgers
import Logging
import Messages
import ServiceLifecycle
import Signalling
import Spooling
import TestSupport
import Testing

@testable import Delivery

@Suite(.timeLimit(.minutes(5))) struct FilingTests {
  private func receipt(of request: String, in spool: Spool) throws -> Receipt? {
    try spool.sent.directory(request).file(Receipt.fileName).contents(limit: 1 << 20).flatMap(Receipt.init)
  }

  /// A filing that is not running.
  private func filing(in scratch: TemporaryDirectory) throws -> (Spool, Ledger, Filing) {
    let spool = try Spool(creating: scratch.path("spool"))
    let ledger = try Ledger(in: spool.state, isDisposable: true)
    let pool = BlockingPool(label: "filing", threads: 2)
    return (spool, ledger, Filing(core: DeliveryCore(ledger, in: spool), pool: pool, hooks: nil))
  }

  @Test("Requests that end together get their own receipts")
  func crowd() async throws {
    let daemon = try DaemonUnderTest(network: ScriptedNetwork())
    let requests = try (0..<80).map { try daemon.drop("\($0)", to: "c\($0 % 20)") }
    try await daemon.run { daemon in
      for request in requests {
        while try daemon.spool.sent.entry(request) == nil { await Task.yield() }
        #expect(try daemon.spool.sent.directory(request).names() == [Receipt.fileName])
        let receipt = try #require(try receipt(of: request, in: daemon.spool))
        #expect(receipt.request == request && receipt.state == .sent && receipt.messages.map(\.state) == [.sent])
      }
    }
    #expect(try daemon.spool.cur.names().isEmpty && daemon.spool.failed.names().isEmpty)
  }

  @Test("A request that ends just before the daemon stops gets its receipt")
  func atTheEnd() async throws {
    let scratch = try TemporaryDirectory()
    let (spool, ledger, filing) = try filing(in: scratch)
    try await end(0..<300, in: spool, ledger)
    let group = ServiceGroup(services: [filing], logger: silent)
    async let running: Void = group.run()
    while try await ledger.unfiled(limit: 1).count > 0 { await Task.yield() }
    try await end(300..<310, in: spool, ledger)
    filing.signals.filing.ring()
    await group.triggerGracefulShutdown()
    try await running
    #expect(try await ledger.unfiled(limit: 1).isEmpty)
    #expect(try spool.cur.names().isEmpty && spool.sent.names().count == 310)
    try ledger.close()
  }

  @Test("An entry under a request's name in sent/ makes room for it")
  func oneThatFails() async throws {
    let scratch = try TemporaryDirectory()
    let (spool, ledger, filing) = try filing(in: scratch)
    try spool.sent.directory(creating: "r0").write([1], as: "somebody's")
    try await end(0..<700, in: spool, ledger)
    let group = ServiceGroup(services: [filing], logger: silent)
    async let running: Void = group.run()
    while try await ledger.unfiled(limit: 1).count > 0 { await Task.yield() }
    await group.triggerGracefulShutdown()
    try await running
    #expect(try receipt(of: "r0", in: spool)?.request == "r0" && spool.cur.names().isEmpty)
    #expect(try spool.sent.directory("r0.2").names() == ["somebody's"])
    try ledger.close()
  }

  @Test("A receipt torn by a power cut is replaced by the whole one")
  func cutOff() async throws {
    let daemon = try DaemonUnderTest(network: ScriptedNetwork())
    let left = try daemon.spool.sent.directory(creating: "r1")
    for name in [Receipt.fileName, "text"] { try left.write([], as: name) }
    let ledger = try Ledger(in: daemon.spool.state)
    try await noteSent("r1", left.entry(), in: ledger)
    try ledger.close()
    try await daemon.run { daemon in
      while try left.names() != [Receipt.fileName] || receipt(of: "r1", in: daemon.spool)?.state != .sent {
        await Task.yield()
      }
    }
    #expect(try daemon.spool.cur.names().isEmpty)
  }

  private func end(_ numbers: Range<Int>, in spool: Spool, _ ledger: Ledger) async throws {
    for name in numbers.map({ "r\($0)" }) {
      let directory = try spool.cur.directory(creating: name)
      try directory.write([1], as: "text")
      try await noteSent(name, directory.entry(), in: ledger)
    }
  }

  /// Records an accepted and sent request.
  private func noteSent(_ name: String, _ entry: Entry, in ledger: Ledger) async throws {
    let now = Timestamp.now()
    let request = NewRequest(name, inode: entry.inode, born: entry.born, to: "c", parts: [NewRequest.Part("text")])
    _ = try await ledger.accept([request], at: now)
    let message = try #require(try await ledger.head(of: 1, limit: 1).first)
    #expect(try await ledger.beginPublishing(message, at: now) == 1)
    #expect(try await ledger.markSent(message, Published(at: now), at: now) == .sent)
  }
}
