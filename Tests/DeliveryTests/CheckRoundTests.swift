import Control
import Synchronization
import Testing

@testable import Delivery

@Suite(.timeLimit(.minutes(10))) struct CheckRoundTests {
  private static let good = ControlReply.Outcome("store s3", isDone: true, "accepts the credentials")

  /// Rounds whose checks wait until they are let go; their number is the answer.
  private struct Gate {
    let rounds: CheckRounds
    let letGo: @Sendable () -> Void

    init() {
      let (gate, go) = AsyncStream.makeStream(of: Void.self)
      let began = Atomic<Int>(0)
      rounds = CheckRounds { [began = Counted(began: began)] in
        let number = began.next()
        for await _ in gate { break }
        return [.init("round \(number)", isDone: !Task.isCancelled, "as told")]
      }
      letGo = { go.yield() }
    }
  }

  private final class Counted: Sendable {
    private let began: Atomic<Int>

    init(began: consuming Atomic<Int>) { self.began = began }

    func next() -> Int { began.add(1, ordering: .relaxed).newValue }
  }

  @Test("Who asks during a round gets its answers, and who asks after it begins another one")
  func shared() async {
    let gate = Gate()
    #expect(await gate.rounds.askTwice(then: gate.letGo).map { $0?.map(\.subject) } == [["round 1"], ["round 1"]])
    gate.letGo()
    #expect(await gate.rounds.answers()?.map(\.subject) == ["round 2"])
  }

  @Test("An asker that goes away does not end the round")
  func gone() async {
    let gate = Gate()
    #expect(await gate.rounds.askTwice(cancelsFirst: true, then: gate.letGo).last??.first?.isDone == true)
  }

  @Test("A stop cancels the round, and nobody gets its answers")
  func stopped() async throws {
    let gate = Gate()
    async let answers = gate.rounds.answers()
    let service = Task { [rounds = gate.rounds] in try await rounds.run() }
    service.cancel()
    try await service.value
    #expect(await answers == nil)
    #expect(await gate.rounds.answers() == nil)
  }

  @Test("The daemon answers with a line for each destination, however many")
  func throughDaemon() async throws {
    let many = (0..<20_000).map { ControlReply.Outcome("conversation \($0)", isDone: $0 > 0, "user is in the room") }
    try await DaemonUnderTest(network: ScriptedNetwork()).run(check: { [Self.good] + many }) { daemon in
      var reply: ControlReply?
      while reply == nil { reply = try await daemon.ask(.check) }
      #expect(reply?.outcomes == [Self.good] + many)
    }
  }
}

extension CheckRounds {
  /// Both tasks have asked before `act` is called, since an actor takes its tasks in order.
  fileprivate func askTwice(
    cancelsFirst: Bool = false, then act: @escaping @Sendable () -> Void
  ) async -> [[ControlReply.Outcome]?] {
    let one = Task { await answers() }
    let other = Task { await answers() }
    let last = Task {
      if cancelsFirst { one.cancel() }
      act()
    }
    await last.value
    return await [one.value, other.value]
  }
}
