import DurableFiles
import GRDB
import Messages
import Synchronization
import Testing

@testable import Janitor
@testable import Ledgers

@Suite struct ClearingTests {
  private let whole = ["blurred.jpg", "original.jpg", "thumbnail.jpg"]
  private let thumbnails = ["blurred.jpg", "thumbnail.jpg"]
  private let others = ConversationID(unchecked: "others")
  private let you = InboxID(unchecked: "you")

  private func spool() async throws -> SpoolUnderJanitor {
    let spool = try SpoolUnderJanitor()
    try await spool.send("a")
    try await spool.send("b", from: "you", bytes: 110)
    try await spool.send("c", to: "others", bytes: 120)
    try await spool.send("waits", to: "others", bytes: 130, ends: false)
    try await spool.send("last", bytes: 140, remoteUntil: SpoolUnderJanitor.now)
    try await spool.send("me", to: "\u{1}me", bytes: 150)
    _ = try await spool.janitor().pass()
    try await spool.ledger.write { try $0.execute(sql: "UPDATE photos SET pinned = 1 WHERE message = 'me'") }
    return spool
  }

  private func plan(
    _ spool: SpoolUnderJanitor, inbox: InboxID? = nil, conversation: ConversationID? = nil
  ) throws -> ClearPlan {
    try LedgerView(in: spool.spool.state).clearPlan(inbox: inbox, conversation: conversation)
  }

  private func evicting(_ spool: SpoolUnderJanitor) async throws -> Int? {
    try await spool.ledger.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM photos WHERE evicting > 0") }
  }

  @Test("A rehearsal tells what goes, and for what reason the rest stays")
  func reasons() async throws {
    let spool = try await spool()
    let plan = try plan(spool)
    #expect(plan.going == PhotoAmount(photos: 3, bytes: 330))
    #expect(
      plan.staying == [
        "1 photo, 130 B stay: needed by unfinished requests", "1 photo, 150 B stay: in use as profile photos",
        "1 photo, 140 B stay: last copies, which cannot be fetched again",
      ])
    let other = try self.plan(spool, conversation: others)
    #expect(other.going == PhotoAmount(photos: 1, bytes: 120) && other.staying.count == 1)
    #expect(try self.plan(spool, inbox: you).staying == [])
    #expect(try spool.files("a") == whole)
    #expect(try await evicting(spool) == 0)
  }

  @Test("The rehearsal of an inbox, of a conversation and of all equals what then goes")
  func rehearsal() async throws {
    let spool = try await spool()
    for (inbox, conversation) in [(nil, others), (you, nil), (you, others), (nil, nil), (nil, nil)] {
      let said = try plan(spool, inbox: inbox, conversation: conversation)
      #expect(try await spool.clear(inbox: inbox, conversation: conversation).amount == said.going)
      let left = try plan(spool, inbox: inbox, conversation: conversation)
      #expect(left.going == PhotoAmount() && left.staying == said.staying)
    }
    #expect(try spool.files("a") == thumbnails && spool.files("b", from: "you") == thumbnails)
    #expect(try spool.files("waits", to: "others") == whole && spool.files("last") == whole)
    #expect(try spool.files("me", to: ConversationID(unchecked: "\u{1}me").fileName) == whole)
    #expect(try await spool.isExact())
  }

  @Test("A rehearsal counts what an interrupted eviction has left marked, and the next clear ends it")
  func marked() async throws {
    let spool = try await spool()
    let candidates = try await spool.ledger.evictionCandidates(.fetchable, inbox: nil, need: 1)
    _ = try await spool.ledger.evict(candidates) { _, _ in }
    #expect(try await evicting(spool) == 1)
    let said = try plan(spool, inbox: you)
    #expect(said.going == PhotoAmount(photos: 2, bytes: 210))
    #expect(try await spool.clear(inbox: you, conversation: nil).amount == said.going)
    #expect(try spool.files("a") == thumbnails)
    #expect(try await spool.isExact())
  }

  @Test("A clear that is stopped ends its slice, leaves nothing marked, and says that it is not done")
  func stopped() async throws {
    let spool = try await spool()
    let asked = Atomic<Int>(0)
    let (count, isDone) = try await CacheClearing(spool: spool.spool, ledger: spool.ledger)
      .run(inbox: nil, conversation: nil) { asked.add(1, ordering: .relaxed).newValue > 2 }
    // Asked for the turn, and before the first slice.
    #expect(!isDone && count.photos == 3)
    #expect(try await evicting(spool) == 0)
    #expect(try await spool.isExact())
    let stopped = try await CacheClearing(spool: spool.spool, ledger: spool.ledger)
      .run(inbox: nil, conversation: nil) { true }
    #expect(!stopped.isDone && stopped.count.photos == 0)
  }

  @Test("A clear waits while a janitor works")
  func turn() async throws {
    let spool = try await spool()
    let turn = try #require(try SpoolJanitor.turn(on: spool.spool))
    let asked = Atomic<Int>(0)
    async let clearing = CacheClearing(spool: spool.spool, ledger: spool.ledger)
      .run(inbox: nil, conversation: nil) {
        if asked.add(1, ordering: .sequentiallyConsistent).newValue == 3 { turn.release() }
        return false
      }
    let (count, isDone) = try await clearing
    #expect(isDone && count.photos == 3)
    #expect(asked.load(ordering: .sequentiallyConsistent) > 3)
  }

  @Test("Two clears at once remove every photo once")
  func twice() async throws {
    let spool = try await spool()
    async let one = spool.clear(inbox: nil, conversation: nil)
    async let other = spool.clear(inbox: nil, conversation: nil)
    let counts = try await [one, other].map(\.photos)
    #expect(counts.sorted() == [0, 3])
    #expect(try await spool.isExact())
  }
}
