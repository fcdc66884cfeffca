import Control
import Janitor
import Ledgers
import Messages
import Spooling
import Testing

@testable import Delivery

@Suite(.timeLimit(.minutes(10))) struct ClearTests {
  @Test("The daemon clears by order, twice at once, and keeps the photo of a waiting request")
  func order() async throws {
    let network = ScriptedNetwork()
    let daemon = try DaemonUnderTest(network: network, preparer: EasyPreparer())
    await network.hold("waits")
    try await daemon.run { daemon in
      try daemon.sendPhoto(to: "family")
      try daemon.sendPhoto(to: "other")
      let waiting = try daemon.sendPhoto(to: "waits")
      await daemon.network.wait { $0.published == 2 && $0.unanswered == 1 }
      let view = try LedgerView(in: daemon.spool.state)
      // A photo is evictable once its request is over.
      while try view.clearPlan(inbox: nil, conversation: nil).going.photos < 2 { await Task.yield() }
      let plan = try view.clearPlan(inbox: nil, conversation: nil)
      #expect(plan.needed.photos == 1)
      async let one = daemon.ask(.clear(inbox: nil, conversation: nil))
      async let other = daemon.ask(.clear(inbox: nil, conversation: nil))
      let replies = try await [one, other].compactMap { $0 }.flatMap(\.outcomes)
      #expect(replies.allSatisfy { $0.isDone && $0.subject.isEmpty })
      #expect(Set(replies.map(\.sentence)) == ["\(plan.going)", "0 photos, 0 B"])
      #expect(try view.clearPlan(inbox: nil, conversation: nil).going == PhotoAmount())
      var originals = [String]()
      try view.forEachPhoto(inbox: nil, conversation: nil) { photo in
        if try PhotoCache(daemon.spool).look(photo.path).original { originals.append(photo.conversation) }
      }
      #expect(originals == ["waits"])
      await daemon.network.answerHeld()
      while try daemon.story(of: waiting)?.state != .sent { await Task.yield() }
    }
  }

  @Test("A scope that is no name is refused with its sentence, and nothing goes")
  func badScope() async throws {
    let daemon = try DaemonUnderTest(network: ScriptedNetwork())
    try await daemon.run { daemon in
      while try await daemon.ask(.progress) == nil { await Task.yield() }
      await #expect(throws: ControlError.self) { try await daemon.ask(.clear(inbox: "", conversation: nil)) }
    }
  }

  @Test("A stop ends an order that waits for a janitor, and waits for the order")
  func stop() async throws {
    let daemon = try DaemonUnderTest(network: ScriptedNetwork())
    let ledger = try Ledger(in: daemon.spool.state)
    let clearer = Clearer(clearing: CacheClearing(spool: daemon.spool, ledger: ledger))
    let turn = try #require(try SpoolJanitor.turn(on: daemon.spool))
    async let clearing = clearer.clear(inbox: nil, conversation: nil)
    let service = Task { try await clearer.run() }
    service.cancel()
    #expect(try await !clearing.isDone)
    try await service.value
    turn.release()
    #expect(try await !clearer.clear(inbox: nil, conversation: nil).isDone)
  }
}
