import DurableFiles
import Foundation
import Ledgers
import Messages
import Signalling
import Spooling
import Synchronization
import TestSupport
import Testing

@testable import Delivery

@Suite(.timeLimit(.minutes(5))) struct IntakeBatchTests {
  private func read(_ names: [String], in spool: Spool, open: OpenRequests) throws -> IntakeBatch {
    try IntakeBatch(
      names[...], in: spool, inbox: InboxID("me"),
      unconfirmed: UnconfirmedRequests([:]), unmovable: UnmovableEntries([:]), open: open)
  }

  private func make(_ name: String, to conversation: String, in spool: Spool) throws -> Directory {
    let request = try spool.new.directory(creating: name)
    try request.write(Array("\(conversation)\n".utf8), as: "to")
    try request.write(Array("a text\n".utf8), as: "text")
    return request
  }

  @Test("A name is free if no entry of the spool, no request and no pending rename has it")
  func names() async throws {
    let scratch = try TemporaryDirectory()
    let spool = try Spool(creating: scratch.path("spool"))
    let ledger = try Ledger(in: spool.state)
    for name in ["a", "b"] { _ = try make(name, to: "family", in: spool) }
    _ = try spool.sent.directory(creating: "a")
    let batch = try read(["a", "b"], in: spool, open: OpenRequests())
    #expect(batch.namesTaken == [0] && batch.requests.map(\.name) == ["a", "b"])
    var requests = batch.requests
    requests[0].name = "a.2"
    #expect(try await ledger.accept(requests, at: .now()).map(\.request) == ["a.2", "b"])
    #expect(try await spool.freeName(for: "a", in: ledger, except: ["a.3"]) == "a.4")
    #expect(try await spool.freeName(for: "b", in: ledger) == "b.2")
    #expect(try await spool.freeName(for: ".c", in: ledger).hasPrefix("unnamed-"))
  }

  @Test(
    "Requests of which files stay open are set aside, and refused once that has lasted; what follows them waits, others do not"
  )
  func openFiles() throws {
    let scratch = try TemporaryDirectory()
    let spool = try Spool(creating: scratch.path("spool"))
    let names = (0..<40).map { "r\($0)" }
    var writers = [FileHandle]()
    for name in names {
      let request = try make(name, to: "family", in: spool)
      writers.append(try #require(FileHandle(forWritingAtPath: request.path(of: "text"))))
    }
    _ = try make("behind", to: "family", in: spool)
    _ = try make("other", to: "friends", in: spool)
    let all = names + ["behind", "other"]
    let now = Mutex(ContinuousClock.now)
    let open = OpenRequests { now.withLock { $0 } }
    let first = try read(all, in: spool, open: open)
    #expect(first.taken == all.count && first.requests.map(\.droppedAs) == ["other"])
    #expect(open.conversations == [try ConversationID("family")])
    // One is closed in time, and the rest of the queue waits. A child process of another test may hold it open until its
    // program begins.
    try writers.removeFirst().close()
    var taken: [String] = []
    for _ in 0..<10_000 where !taken.contains("r0") {
      taken = try read(all, in: spool, open: open).requests.map(\.droppedAs)
    }
    #expect(taken == ["r0", "other"])
    now.withLock { $0 += .seconds(1) }
    let batch = try read(all, in: spool, open: open)
    #expect(batch.requests.count == all.count)
    for request in batch.requests where names.dropFirst().contains(request.droppedAs) {
      guard case .failure(let error) = request.contents else {
        Issue.record("\(request.droppedAs) was taken, and is still written")
        continue
      }
      #expect(error.sentence.contains("still has text open"))
    }
    open.beginLook()
    open.endLook()
    for writer in writers { try writer.close() }
  }
}
