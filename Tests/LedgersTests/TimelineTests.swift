import GRDB
import Messages
import TestSupport
import Testing

@testable import Ledgers

@Suite struct TimelineTests: LedgerSuite {
  let fresh: FreshLedger
  private let family = ConversationID(unchecked: "family")

  /// Messages, announced photos and photos of forgotten requests, one per second and in turn.
  private func fill(_ count: Int, in conversation: String = "family") async throws {
    for number in 0..<count {
      let time = now.advanced(seconds: Double(number))
      switch number % 3 {
      case 0:
        _ = try await ledger.acceptRenaming(
          [NewRequest("\(conversation)\(number)", inode: UInt64(number + 1), to: conversation)], at: time)
      case 1:
        _ = try await ledger.receive([new("\(conversation)\(number)", in: conversation)], fetch: .ask, at: time)
      default:
        try await ledger.write { database in
          let row = try database.conversation(ConversationID(unchecked: conversation), now: time)
          try database.run(
            """
            INSERT INTO photos (message, inbox, conversation_id, file, format, original_bytes, original_width,
              original_height, bytes, width, height, digest, path, thumbnail_bytes, created_at, cached_bytes,
              cached_thumbnail_bytes)
            VALUES (?, 'me', ?, 'f', 'jpeg', 1, 1, 1, 9, 3, 2, 'd', 'p', 1, ?, 9, 1)
            """, "\(conversation)-photo\(number)", row, time)
        }
      }
    }
  }

  private func times(_ page: TimelinePage) -> [Int] { page.entries.map { Int($0.time.seconds(since: now)) } }

  @Test("Pages of all sources in the order of time meet without a gap or a repetition, both ways")
  func pages() async throws {
    try await fill(100)
    try await fill(10, in: "garden")
    let view = try LedgerView(in: state)
    var (page, seen) = (try view.timeline(of: family, limit: 7), [Int]())
    #expect(page.newer == nil)
    while true {
      seen = times(page) + seen
      guard let older = page.older else { break }
      page = try view.timeline(of: family, from: older, limit: 7)
      // A page beside it begins where this one ended.
      let newer = try #require(page.newer)
      #expect(times(try view.timeline(of: family, from: newer, isForward: true, limit: 3)).first == seen.first)
    }
    #expect(seen == Array(0..<100))
    seen = times(page)
    while let newer = page.newer {
      page = try view.timeline(of: family, from: newer, isForward: true, limit: 7)
      seen += times(page)
    }
    #expect(seen == Array(0..<100))
  }

  @Test("What came after the newest page is not on the page before it") func later() async throws {
    for number in 0..<6 {
      _ = try await ledger.receive(
        [new("photo\(number)", in: "family")], fetch: .ask, at: now.advanced(seconds: Double(number)))
    }
    let view = try LedgerView(in: state)
    let older = try #require(try view.timeline(of: family, limit: 4).older)
    _ = try await ledger.acceptRenaming([NewRequest("reply", inode: 9, to: "family")], at: now.advanced(seconds: 60))
    let page = try view.timeline(of: family, from: older, limit: 4)
    #expect(times(page) == [0, 1])
    let newer = try #require(page.newer)
    #expect(times(try view.timeline(of: family, from: newer, isForward: true)) == [2, 3, 4, 5, 60])
  }

  @Test("A photo with a message or an announcement is shown once, and one of a forgotten request stays")
  func once() async throws {
    try await accept(NewRequest("r", inode: 1, files: ["photo.jpg", "text"]))
    let photo = try #require(try await head().first)
    _ = try await ledger.beginPreparing(photo)
    _ = try await ledger.beginUploading(photo, photo: row, store: "s", object: "o", isSealed: true, at: now)
    let entries = try LedgerView(in: state).timeline(of: family).entries
    #expect(entries.map(\.kind) == [.photo, .text])
    #expect(entries.first?.size?.width == row.width)
    for message in try await head() { try await send(message) }
    try await ledger.write { try $0.execute(sql: "DELETE FROM requests") }
    let rest = try LedgerView(in: state).timeline(of: family).entries
    #expect(rest.map(\.message) == [photo.message] && rest.first?.request == nil)
    #expect(rest.first?.state == nil, "it was not published")
    try await ledger.write { try $0.execute(sql: "UPDATE photos SET attachment = '{}'") }
    #expect(try LedgerView(in: state).timeline(of: family).entries.first?.state == .sent)
  }

  @Test("An inbox sees only its own")
  func inboxes() async throws {
    try await accept(NewRequest("r", inode: 1, from: "me", parts: [NewRequest.Part("text")]))
    try await accept(NewRequest("s", inode: 2, from: "anna", parts: [NewRequest.Part("text")]))
    let view = try LedgerView(in: state)
    let anna = InboxID(unchecked: "anna")
    #expect(try view.timeline(of: family, inbox: anna).entries.map(\.request) == ["s"])
    #expect(try view.conversations(inbox: anna).conversations.count == 1)
    #expect(try view.conversations(inbox: InboxID(unchecked: "nobody")).conversations.isEmpty)
  }

  @Test("The page before the place after an entry ends with it")
  func places() async throws {
    try await fill(30)
    let view = try LedgerView(in: state)
    let all = try view.timeline(of: family).entries
    for entry in all {
      let place = try #require(try view.place(after: entry.message))
      #expect(try view.timeline(of: family, from: place, limit: 5).entries.last?.message == entry.message)
      #expect(PagePlace(place.description, count: 3) == place)
    }
    #expect(try view.place(after: MessageID(unchecked: "nobody")) == nil)
    for text in ["", "1", "1-2", "1-2-3-4", "a-2-3", "-1-2-3", "1--2-3"] { #expect(PagePlace(text, count: 3) == nil) }
  }

  @Test("The page behind the place before a time begins with the first entry since then")
  func timesOfPlaces() async throws {
    try await fill(30)
    let view = try LedgerView(in: state)
    for second in 0...30 {
      for milliseconds in [0, -1] {
        let time = Timestamp(milliseconds: now.advanced(seconds: Double(second)).milliseconds + Int64(milliseconds))
        let place = try #require(try view.place(before: time, in: family))
        let page = try view.timeline(of: family, from: place, isForward: true, limit: 40)
        #expect(times(page) == Array(second..<30))
        let older = try #require(page.older)
        #expect(times(try view.timeline(of: family, from: older, limit: 40)) == Array(0..<second))
      }
    }
    #expect(try view.place(before: now, in: ConversationID(unchecked: "nobody")) == nil)
  }

  @Test("The list has the latest conversations first, in pages, with what is wrong with them")
  func list() async throws {
    for (index, name) in ["a", "b", "c", "d", "e"].enumerated() {
      _ = try await ledger.acceptRenaming(
        [NewRequest(name, inode: UInt64(index + 1), to: name)], at: now.advanced(seconds: Double(index)))
    }
    _ = try await ledger.receive([new("m", in: "b")], fetch: .ask, at: now.advanced(seconds: 10))
    let view = try LedgerView(in: state)
    var names: [String] = []
    var place: PagePlace?
    repeat {
      let (page, end) = try view.conversations(after: place, limit: 2)
      names += page.map(\.conversation.text)
      place = end
      if let end { #expect(PagePlace(end.description, count: 2) == end) }
    } while place != nil
    #expect(names == ["b", "e", "d", "c", "a"])
    let first = try #require(try view.conversations(limit: 1).conversations.first)
    #expect(first.state == nil && first.waiting == 1)
    #expect(try view.conversations(filter: "D").conversations.map(\.conversation.text) == ["d"])
    #expect(try view.conversations(filter: "%").conversations.isEmpty)
  }

  @Test("No question of the page scans a table that grows with what is kept")
  func plans() async throws {
    try await fill(30)
    let view = try LedgerView(in: state)
    let questions = try view.questions {
      _ = try view.timeline(of: family)
      _ = try view.place(after: MessageID(unchecked: "family0/text"))
      _ = try view.place(before: now, in: family)
      _ = try view.time(of: MessageID(unchecked: "family-photo2"))
      _ = try view.state(of: family)
    }
    #expect(questions.count > 8)
    for question in questions {
      let scans = question.plan.filter { $0.hasPrefix("SCAN ") && !$0.hasPrefix("SCAN CONSTANT") }
      #expect(scans.isEmpty, "\(question.plan): \(question.sql)")
    }
  }
}
