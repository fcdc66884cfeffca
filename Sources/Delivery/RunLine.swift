import Synchronization

/// Messages of a run that the network was not asked for yet, and those that it has published and the ledger does not know of.
/// Who takes them decides what becomes of them.
final class RunLine: Sendable {
  private let state: Mutex<(sent: [ConversationWorker.Sent], rest: ArraySlice<ConversationWorker.Begun>)>

  init(_ rest: ArraySlice<ConversationWorker.Begun>) { state = Mutex(([], rest)) }

  /// The next one to publish; nil when none is left.
  func next() -> ConversationWorker.Begun? { state.withLock { $0.rest.popFirst() } }

  /// One is published.
  func add(_ sent: ConversationWorker.Sent) { state.withLock { $0.sent.append(sent) } }

  /// All that are to be committed: as sent, and as not tried.
  func takeAll() -> (sent: [ConversationWorker.Sent], untried: [ConversationWorker.Begun]) {
    state.withLock { state in
      defer { state = ([], []) }
      return (state.sent, Array(state.rest))
    }
  }
}
