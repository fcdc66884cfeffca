import Synchronization

/// The messages of a batch that the network does not have yet, and the published ones that are not committed. They are
/// taken once, by whoever handles them.
final class TextBatch: Sendable {
  private struct State {
    var sent: [ConversationWorker.Sent] = []
    var rest: ArraySlice<ConversationWorker.Begun>
    var isOver = false
    var givingBack: Task<Void, any Error>?
  }

  private let state: Mutex<State>

  init(_ rest: ArraySlice<ConversationWorker.Begun>) { state = Mutex(State(rest: rest)) }

  /// The next one to publish.
  func next() -> ConversationWorker.Begun? { state.withLock { $0.rest.popFirst() } }

  func add(_ sent: ConversationWorker.Sent) { state.withLock { $0.sent.append(sent) } }

  /// Takes all, to be committed as sent and as untried.
  func takeAll() -> (sent: [ConversationWorker.Sent], untried: [ConversationWorker.Begun]) {
    state.withLock { state in
      defer { (state.sent, state.rest) = ([], []) }
      return (state.sent, Array(state.rest))
    }
  }

  var isOver: Bool { state.withLock { $0.isOver } }

  /// Begins `giveBack`, because the batch takes too long, unless it is over.
  func isDue(_ giveBack: @escaping @Sendable () async throws -> Void) {
    state.withLock { state in
      if !state.isOver { state.givingBack = Task { try await giveBack() } }
    }
  }

  /// Ends the batch. Waits for `giveBack` and throws its error.
  func end() async throws {
    let givingBack = state.withLock { state in
      state.isOver = true
      return state.givingBack
    }
    try await givingBack?.value
  }
}
