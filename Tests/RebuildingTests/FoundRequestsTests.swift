import DurableFiles
import Messages
import Spooling
import TestSupport
import Testing

@testable import Rebuilding

@Suite(.timeLimit(.minutes(5))) struct FoundRequestsTests {
  private func drop(_ name: String, in spool: Spool, receipt: (file: String, bytes: [UInt8])) throws {
    let directory = try spool.cur.directory(creating: name)
    for (file, text) in [("to", "family\n"), ("text", "hello\n")] { try directory.write(Array(text.utf8), as: file) }
    try directory.put(receipt.bytes, as: receipt.file)
  }

  @Test("A partial receipt does not count: the request waits", arguments: [Receipt.fileName, ".receipt.json.tmp"])
  func aPart(_ file: String) throws {
    let scratch = try TemporaryDirectory()
    let spool = try Spool(creating: scratch.path("spool"))
    for bytes in [[], Array("{\n  \"acceptedAt\" : \"20".utf8)] {
      try drop("r\(bytes.count)", in: spool, receipt: (file, bytes))
    }
    let found = try FoundRequests(in: spool, inbox: InboxID("me"), canBeAsked: { _ in true })
    #expect(found.all.map(\.row.state) == [.queued, .queued])
    for name in try spool.cur.names() { #expect(try spool.cur.directory(name).names() == ["text", "to"]) }
  }

  @Test("With its receipt it is over, and filed")
  func aWhole() throws {
    let scratch = try TemporaryDirectory()
    let spool = try Spool(creating: scratch.path("spool"))
    let receipt = Receipt(
      request: "r", conversation: "family", inbox: "me", state: .sent, duplicateOf: nil,
      acceptedAt: "2026-01-02T03:04:05.000Z", finishedAt: "2026-01-02T03:04:06.000Z", messages: [])
    try drop("r", in: spool, receipt: (Receipt.fileName, receipt.encoded()))
    let found = try FoundRequests(in: spool, inbox: InboxID("me"), canBeAsked: { _ in true })
    #expect(found.all.map(\.row.state) == [.sent])
    #expect(try spool.cur.names().isEmpty && spool.sent.directory("r").names() == [Receipt.fileName])
  }
}
