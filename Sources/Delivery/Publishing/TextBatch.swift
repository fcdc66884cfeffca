import Synchronization

/// Messages of a batch that the network was not asked for yet, and those that it has published and the ledger does not know of.
/// Who takes them decides what becomes of them.
final class TextBatch: Sendable {
  private struct State {
    var sent: [ConversationWorker.Sent] = []
    var rest: ArraySlice<ConversationWorker.Begun>
    var isOver = false
    var givingBack: Task<Void, any Error>?
  }

  private let state: Mutex<State>

  init(_ rest: ArraySlice<ConversationWorker.Begun>) { state = Mutex(State(rest: rest)) }

  /// The next one to publish; nil when none is left.
  func next() -> ConversationWorker.Begun? { state.withLock { $0.rest.popFirst() } }

  /// One is published.
  func add(_ sent: ConversationWorker.Sent) { state.withLock { $0.sent.append(sent) } }

  /// All that are to be committed: as sent, and as not tried.
  func takeAll() -> (sent: [ConversationWorker.Sent], untried: [ConversationWorker.Begun]) {
    state.withLock { state in
      defer { (state.sent, state.rest) = ([], []) }
      return (state.sent, Array(state.rest))
    }
  }

  var isOver: Bool { state.withLock { $0.isOver } }

  /// The batch takes too long: `giveBack` begins, unless it is over.
  func isDue(_ giveBack: @escaping @Sendable () async throws -> Void) {
    state.withLock { state in
      if !state.isOver { state.givingBack = Task { try await giveBack() } }
    }
  }

  /// The batch is over. Waits for what is being given back, and throws what goes wrong with it.
  func end() async throws {
    let givingBack = state.withLock { state in
      state.isOver = true
      return state.givingBack
    }
    try await givingBack?.value
  }
}
