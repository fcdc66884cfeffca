import GRDB
import Messages
import TestSupport
import Testing

@testable import Ledgers

@Suite struct QueueListTests: LedgerSuite {
  let fresh: FreshLedger

  private func accept(_ names: [String], to conversation: String) async throws {
    for name in names {
      _ = try await ledger.acceptRenaming(
        [NewRequest(name, inode: UInt64(name.utf8.reduce(0) { $0 * 31 + UInt32($1) }), to: conversation)], at: now)
    }
  }

  /// Makes requests fail, each a second after the one before.
  private func fail(_ names: [String], cause: Cause = .forbidden) async throws {
    try await ledger.write { [now] database in
      for (second, name) in names.enumerated() {
        try database.run(
          "UPDATE messages SET state = 'failed', cause = ?, error = 'no' WHERE request_id = (SELECT id FROM requests WHERE request = ?)",
          cause, name)
        try database.run(
          "UPDATE requests SET state = 'failed', filed = 1, finished_at = ? WHERE request = ?",
          now.advanced(seconds: Double(second + 1)), name)
      }
    }
  }

  @Test("The queue has what waits and what has failed, latest first, in pages that meet")
  func pages() async throws {
    try await accept((0..<5).map { "w\($0)" }, to: "family")
    try await accept((0..<4).map { "f\($0)" }, to: "garden")
    try await fail((0..<4).map { "f\($0)" })
    let view = try LedgerView(in: state)
    var (names, place) = ([String](), PagePlace?.none)
    repeat {
      let (page, end) = try view.queue(QueueFilter(), after: place, limit: 2)
      names += page.map(\.request)
      if let end { #expect(PagePlace(end.description, count: 2) == end) }
      place = end
    } while place != nil
    #expect(names == ["f3", "f2", "f1", "f0", "w4", "w3", "w2", "w1", "w0"])
    let failed = try #require(try view.queue(QueueFilter(), limit: 1).requests.first)
    #expect(failed.isFailed && failed.error == "no" && failed.conversation?.text == "garden")
    #expect(try view.oldestWaiting(inbox: nil) == now)
    for text in ["", "1", "a-2", "1-2-3"] { #expect(PagePlace(text, count: 2) == nil) }
  }

  @Test("Every part of a filter leaves exactly what it names, in the list, the counts and the names alike")
  func filters() async throws {
    try await accept(["a1", "a2"], to: "family")
    try await accept(["b1", "b2", "b3"], to: "garden")
    try await fail(["b1"])
    try await fail(["b2"], cause: .tooLarge)
    _ = try await ledger.setHeld(true, ConversationID("family"), at: now)
    let view = try LedgerView(in: state)
    func expect(_ waiting: [String], _ failed: [String], _ change: (inout QueueFilter) -> Void) throws {
      var filter = QueueFilter()
      change(&filter)
      #expect(try Set(view.queue(filter).requests.map(\.request)) == Set(waiting + failed))
      #expect(try view.queueCounts(filter) == (waiting.count, failed.count))
      #expect(try view.queuedNames(filter, failed: false, limit: 9) == waiting)
      #expect(try view.queuedNames(filter, failed: true, limit: 9) == failed)
    }
    try expect(["a1", "a2", "b3"], ["b1", "b2"]) { _ in }
    try expect(["a1", "a2", "b3"], []) { $0.state = .waiting }
    try expect([], ["b1", "b2"]) { $0.state = .failed }
    try expect(["a1", "a2"], []) { $0.state = .held }
    try expect([], []) { $0.state = .uploading }
    try expect([], []) { $0.state = .parked }
    try expect(["b3"], ["b1", "b2"]) { $0.conversation = "garden" }
    try expect([], ["b2"]) { $0.cause = .tooLarge }
    try expect(["a1"], ["b1"]) { $0.text = "1" }
    try expect(["a1", "a2"], []) { $0.text = "FAM" }
    try expect([], []) { $0.inbox = InboxID(unchecked: "another") }
    try expect([], ["b1"]) { ($0.conversation, $0.cause, $0.state) = ("garden", .forbidden, .failed) }
    let ages = try view.ages(inbox: nil, minutes: [5, 10], at: now.advanced(seconds: 400), limit: 5)
    #expect(ages.map(\.conversation.text) == ["family", "garden"] && ages.map(\.counts) == [[0, 2, 0], [0, 1, 0]])
  }

  @Test("No question of the queue scans a table that grows with what is kept")
  func plans() async throws {
    try await accept(["a1", "a2"], to: "family")
    let view = try LedgerView(in: state)
    let questions = try view.questions {
      for state in QueueFilter.State.allCases {
        var filter = QueueFilter(inbox: InboxID(unchecked: "me"))
        (filter.state, filter.conversation, filter.cause) = (state, "family", .forbidden)
        _ = try view.queue(filter)
        _ = try view.queueCounts(filter)
        _ = try view.queuedNames(filter, failed: state == .failed, limit: 5)
      }
      _ = try view.oldestWaiting(inbox: nil)
      _ = try view.parkedConversations()
      _ = try view.ages(inbox: nil, minutes: [5], at: now, limit: 5)
    }
    #expect(questions.count > 20)
    for question in questions {
      #expect(question.scans(of: ["requests", "messages"]).isEmpty, "\(question.plan): \(question.sql)")
      #expect(
        !question.plan.contains { $0.contains("INDEX requests_conversation") }, "\(question.plan): \(question.sql)")
    }
  }
}
