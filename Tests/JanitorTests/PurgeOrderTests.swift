import GRDB
import Messages
import Spooling
import TestSupport
import Testing

@testable import Janitor
@testable import Ledgers

@Suite struct PurgeOrderTests {
  private let marked = ConversationID(unchecked: "MARKER")

  @Test func onlyTheNamedLineOfAnOrderIsRemoved() async throws {
    let spool = try SpoolUnderJanitor()
    try spool.spool.purge.write(Array("one\n\u{1}bad\ntwo\n".utf8), as: "please")
    let orders = PurgeOrders(spool.spool)
    let read = try orders.read()
    #expect(read.conversations.map(\.text) == ["one", "two"] && read.unreadable.count == 1)
    try orders.strike([ConversationID(unchecked: "one")])
    #expect(try orders.read().conversations.map(\.text) == ["two"])
    try orders.strike([ConversationID(unchecked: "two")])
    // An invalid line stays for correction.
    #expect(try spool.spool.purge.file("please").contents(limit: 99) == Array("\u{1}bad\n".utf8))
  }

  @Test func invalidLinePurgesNothingAndKeepsFormerLedgers() async throws {
    let spool = try SpoolUnderJanitor()
    _ = try spool.spool.state.make("ledger-20260101T000000Z")
    try spool.spool.purge.write(Array(repeating: UInt8(ascii: "a"), count: 300), as: "mistyped")
    let report = try await spool.janitor().pass()
    #expect(report.purged.conversations == 0 && report.warnings.count == 1)
    #expect(report.warnings.first?.contains("purge/mistyped") == true)
    #expect(try spool.spool.purge.names() == ["mistyped"])
    #expect(try spool.spool.state.entry("ledger-20260101T000000Z") != nil)
  }

  @Test func oversizedOrderBlocksNoOther() async throws {
    let spool = try SpoolUnderJanitor()
    try await spool.send("a", to: "MARKER")
    for directory in [spool.spool.purge, spool.spool.cancel] {
      try directory.write([UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20 + 1), as: "huge")
      try directory.write(Array("MARKER\n".utf8), as: "please")
    }
    let report = try await spool.janitor().pass()
    #expect(report.purged.conversations == 1 && report.warnings.first?.contains("purge/huge") == true)
    #expect(try spool.spool.purge.names() == ["huge"])
    let (orders, unreadable) = try OrderFile.all(in: spool.spool.cancel)
    #expect(orders.map(\.lines) == [["MARKER"]] && unreadable.first?.contains("cancel/huge") == true)
  }

  @Test func orderThatReplacedTheExecutedOneStays() async throws {
    let spool = try SpoolUnderJanitor()
    let cancel = spool.spool.cancel
    func order() throws -> OrderFile { try #require(try OrderFile.all(in: cancel).files.first) }
    try cancel.write(Array("first\n".utf8), as: "please")
    let first = try order()
    try cancel.write(Array("second\n".utf8), as: "please")
    try first.remove(from: cancel, of: spool.spool)
    #expect(try order().lines == ["second"])
    try order().remove(from: cancel, of: spool.spool)
    #expect(try cancel.names() == [])
  }
}
