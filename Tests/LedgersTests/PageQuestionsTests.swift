import GRDB
import Messages
import TestSupport
import Testing

@testable import Ledgers

/// The questions of the page about rates, departures and single requests.
@Suite struct PageQuestionsTests: LedgerSuite {
  let fresh: FreshLedger
  private let family = ConversationID(unchecked: "family")
  private let me = InboxID(unchecked: "me")

  /// A request that was accepted and ended at these seconds after `now`.
  private func end(_ name: String, _ state: RequestState, from inbox: String = "me", at accepted: Int, _ over: Int)
    async throws
  {
    let number = UInt64(name.utf8.reduce(0) { $0 &* 31 &+ UInt32($1) })
    _ = try await ledger.acceptRenaming(
      [NewRequest(name, inode: number, from: inbox, parts: [.init("text")])],
      at: now.advanced(seconds: Double(accepted)))
    try await ledger.write { [now] database in
      try database.run(
        "UPDATE requests SET state = ?, filed = 1, finished_at = ? WHERE request = ?", state.rawValue,
        now.advanced(seconds: Double(over)), name)
    }
  }

  private func keep(
    _ photo: String, in inbox: String = "me", recency: Int, fetchable: Bool = true, viewed: Int? = nil
  ) async throws {
    try await ledger.write { [now] database in
      let row = try database.conversation(ConversationID(unchecked: "family"), now: now)
      try database.run(
        """
        INSERT INTO photos (message, inbox, conversation_id, file, format, original_bytes, original_width,
          original_height, bytes, width, height, digest, path, thumbnail_bytes, created_at, cached_bytes,
          cached_thumbnail_bytes, fetchable, recency, viewed_at)
        VALUES (?, ?, ?, 'f', 'jpeg', 1, 1, 1, 9, 3, 2, 'd', 'p', 1, ?, 9, 1, ?, ?, ?)
        """, photo, inbox, row, now, fetchable, recency, viewed.map { now.advanced(seconds: Double($0)) })
    }
  }

  @Test("A stretch of time counts the requests that ended in it, at its first moment and not at its end")
  func rates() async throws {
    for (name, over) in [("a", 0), ("b", 59), ("c", 60), ("d", 119), ("early", -1), ("late", 180)] {
      try await end(name, .sent, at: -10, over)
    }
    try await end("x", .failed, at: -10, 61)
    try await end("y", .cancelled, at: -10, 61)
    try await end("hers", .sent, from: "her", at: 0, 1)
    let view = try LedgerView(in: state)
    let all = try view.rates(inbox: nil, seconds: 60, count: 3, until: now.advanced(seconds: 180))
    #expect(all.map(\.sent) == [3, 2, 0] && all.map(\.failed) == [0, 1, 0])
    #expect(all.map { Int($0.from.seconds(since: now)) } == [0, 60, 120])
    let mine = try view.rates(inbox: me, seconds: 60, count: 3, until: now.advanced(seconds: 180))
    #expect(mine.map(\.sent) == [2, 2, 0])
    #expect(all[2].median == nil && all[2].slow == nil)
  }

  @Test("Waiting times are those of half and of 95 % of what was sent, and never below zero")
  func waitingTimes() async throws {
    for second in 1...20 { try await end("r\(second)", .sent, at: 100 - second, 100) }
    try await end("back", .sent, at: 300, 200)
    let rates = try LedgerView(in: state).rates(inbox: nil, seconds: 100, count: 3, until: now.advanced(seconds: 300))
    #expect(rates.map(\.median) == [nil, 11, 0] && rates.map(\.slow) == [nil, 20, 0])
  }

  @Test("What was viewed longest ago departs first; nothing does that cannot be fetched again, or of another inbox")
  func departures() async throws {
    try await keep("second", recency: 2, viewed: 5)
    try await keep("first", recency: 1)
    try await keep("last-copy", recency: 0, fetchable: false)
    try await keep("hers", in: "her", recency: 3)
    let view = try LedgerView(in: state)
    #expect(try view.departures(inbox: nil, limit: 9).map(\.message.text) == ["first", "second", "hers"])
    #expect(try view.departures(inbox: nil, limit: 1).map(\.message.text) == ["first"])
    let mine = try view.departures(inbox: me, limit: 9)
    #expect(mine.map(\.message.text) == ["first", "second"] && mine.allSatisfy { $0.conversation == family })
    #expect(mine.map(\.bytes) == [9, 9] && mine.map(\.isHidden) == [false, false])
    #expect(mine.map(\.viewedAt) == [nil, now.advanced(seconds: 5)])
    // The daemon evicts in the same order.
    let evicted = try await ledger.evictionCandidates(.fetchable, inbox: nil, need: 99)
    #expect(evicted.map(\.recency) == [1, 2, 3])
    #expect(try view.janitorRan() == nil)
  }

  @Test("The latest request to a conversation is the one that was accepted last, whatever became of it")
  func latestRequest() async throws {
    let view = try LedgerView(in: state)
    #expect(try view.latestRequest(to: family) == nil)
    try await accept(NewRequest("a", inode: 1))
    try await end("b", .failed, at: 1, 2)
    try await accept(NewRequest("other", inode: 3, to: "garden"))
    #expect(try view.latestRequest(to: family)?.request == "b")
  }

  @Test("No question of a page reads all of a table that grows with what is kept")
  func plans() async throws {
    for number in 0..<6 { try await end("r\(number)", number % 3 == 0 ? .failed : .sent, at: number, number + 1) }
    for number in 0..<6 { try await keep("p\(number)", recency: number) }
    _ = try await ledger.receive([new("announced", in: "family")], fetch: .ask, at: now)
    let view = try LedgerView(in: state)
    let questions = try view.questions {
      for inbox in [nil, me] {
        _ = try view.conversations(inbox: inbox, filter: "fam")
        _ = try view.timeline(of: family, inbox: inbox)
        _ = try view.use(of: family, inbox: inbox)
        _ = try view.queuedNames(among: ["r1", "r2"], inbox: inbox, failed: true)
        _ = try view.departures(inbox: inbox, limit: 5)
        _ = try view.rates(inbox: inbox, seconds: 3600, count: 24, until: now.advanced(seconds: 60))
      }
      _ = try view.latestRequest(to: family)
      _ = try view.story(of: "r1")
      _ = try view.photos(called: "p1")
      _ = try view.time(of: MessageID(unchecked: "p1"))
      _ = try view.place(after: MessageID(unchecked: "p1"))
      _ = try view.janitorRan()
    }
    #expect(questions.count > 25)
    for question in questions { #expect(question.scans().isEmpty, "\(question.plan): \(question.sql)") }
  }
}
