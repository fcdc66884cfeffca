import Synchronization

/// The messages of a batch that the network does not have yet, and the published ones that are not committed. They are
/// taken once, by whoever handles them.
final class TextBatch: Sendable {
  private let state: Mutex<(sent: [ConversationWorker.Sent], rest: ArraySlice<ConversationWorker.Begun>)>

  init(_ rest: ArraySlice<ConversationWorker.Begun>) { state = Mutex(([], rest)) }

  func next() -> ConversationWorker.Begun? { state.withLock { $0.rest.popFirst() } }

  func add(_ sent: ConversationWorker.Sent) { state.withLock { $0.sent.append(sent) } }

  /// Takes all, to be committed as sent and as untried.
  func takeAll() -> (sent: [ConversationWorker.Sent], untried: [ConversationWorker.Begun]) {
    state.withLock { state in
      defer { state = ([], []) }
      return (state.sent, Array(state.rest))
    }
  }
}
