import Ledgers
import Messages
import Networks
import TestSupport
import Testing

@testable import Delivery

@Suite(.timeLimit(.minutes(5))) struct TextBatchTests {
  private static let count = 60

  private func dropped(to daemon: DaemonUnderTest) throws -> [String] {
    try (0..<Self.count).map { try daemon.drop("\($0)", to: "family") }
  }

  @Test("A text that fails in the middle of a batch fails alone", arguments: [Cause.rejected, .serverBusy])
  func oneFails(_ cause: Cause) async throws {
    let network = ScriptedNetwork()
    let daemon = try DaemonUnderTest(network: network) {
      $0.delivery.backoff = RetryPolicy(first: .zero, longest: .zero)
    }
    let names = try dropped(to: daemon)
    let failed = 23
    try await daemon.run { daemon in
      await network.answer { message in
        guard case .text("\(failed)") = message.content else { return nil }
        // The second attempt succeeds.
        return cause == .rejected || message.firstTriedAt == nil ? DeliveryError(cause, "not this one") : nil
      }
      let sent = (0..<Self.count).filter { cause != .rejected || $0 != failed }
      await network.wait { $0.published == sent.count }
      #expect(await network.texts(in: "family") == sent.map(String.init))
      for (number, name) in names.enumerated() {
        let end: RequestState = sent.contains(number) ? .sent : .failed
        while try daemon.story(of: name)?.state != end { await Task.yield() }
        let attempts = try #require(try daemon.story(of: name)?.messages.first).attempts
        // Later messages were not tried.
        #expect(attempts.count == (number == failed && cause != .rejected ? 2 : 1), "\(number)")
      }
    }
  }

  @Test("Messages behind an unanswered one can be cancelled")
  func oneHangs() async throws {
    let network = ScriptedNetwork()
    let daemon = try DaemonUnderTest(network: network)
    let names = try dropped(to: daemon)
    let hanging = 20
    await network.hold("family", after: hanging)
    try await daemon.run { daemon in
      await network.wait { $0.unanswered == 1 }
      // Messages that have not begun are cancelled at once.
      let outcomes = try #require(try await daemon.ask(.cancel(names))).outcomes
      #expect(outcomes.map(\.subject) == names)
      #expect(outcomes[(hanging + 1)...].count { !$0.isDone } < BatchSize.most)
      #expect(outcomes[...hanging].allSatisfy { !$0.isDone })
      for name in names[(hanging + 1)...] {
        while try await daemon.ask(.cancel([name]))?.outcomes.first?.isDone != true { await Task.yield() }
      }
      await network.answerHeld()
      while try daemon.story(of: names[hanging])?.state != .sent { await Task.yield() }
      for name in names[(hanging + 1)...] { #expect(try daemon.story(of: name)?.state == .cancelled) }
      #expect(await network.texts(in: "family") == (0...hanging).map(String.init))
    }
  }
}

@Suite struct WindowTests: LedgerSuite {
  let fresh: FreshLedger

  /// Messages of a conversation, one a request: texts of these sizes, and photos for nil.
  private func window(_ sizes: [Int?], isWhole: Bool = true) async throws -> Window {
    let requests = sizes.enumerated().map { number, bytes in
      NewRequest(
        "r\(number)", inode: UInt64(number),
        parts: [NewRequest.Part("f", bytes == nil ? .photo : .text, bytes: bytes ?? 9)])
    }
    _ = try await ledger.accept(requests, at: now)
    return Window(messages: try await head(), isWhole: isWhole)
  }

  @Test func endsBeforeAPhotoIsNear() async throws {
    let texts = [Int?](repeating: 5, count: 10)
    #expect(try await window(texts + [nil]).run(from: 2, limit: 16, lookahead: 4).map(\.row) == [3, 4, 5, 6])
  }

  @Test func endsBeforeWhatIsNotKnown() async throws {
    let texts = [Int?](repeating: 5, count: 10)
    var window = try await window(texts, isWhole: false)
    #expect(window.run(from: 1, limit: 16, lookahead: 4).map(\.row) == [2, 3, 4, 5, 6])
    #expect(window.run(from: 8, limit: 16, lookahead: 4).isEmpty)
    #expect(window.run(from: 10, limit: 16, lookahead: 4).isEmpty)
    window = Window(messages: window.messages, isWhole: true)
    #expect(window.run(from: 8, limit: 16, lookahead: 4).map(\.row) == [9, 10])
    #expect(window.run(from: 0, limit: 3, lookahead: 4).map(\.row) == [1, 2, 3])
    #expect(window.run(from: 0, limit: -1, lookahead: 4).isEmpty)
  }

  @Test func doesNotGrowWithItsTexts() async throws {
    let most = BatchSize.bytes
    let window = try await window([most / 2, most / 2, 1, 2 * most, 5, 5])
    #expect(window.run(from: 0, limit: 16, lookahead: 0).map(\.row) == [1, 2])
    #expect(window.run(from: 2, limit: 16, lookahead: 0).map(\.row) == [3])
    #expect(window.run(from: 3, limit: 16, lookahead: 0).map(\.row) == [4])
    #expect(window.run(from: 4, limit: 16, lookahead: 0, bytes: most - 2 * most).isEmpty)
  }
}
