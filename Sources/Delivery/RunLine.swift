import Synchronization

/// The messages of a run that the network was not asked for yet. Who takes one decides what becomes of it.
final class RunLine: Sendable {
  private let rest: Mutex<ArraySlice<ConversationWorker.Begun>>

  init(_ run: [ConversationWorker.Begun]) { rest = Mutex(run[...]) }

  /// The next one to publish; nil when none is left.
  func next() -> ConversationWorker.Begun? { rest.withLock { $0.popFirst() } }

  /// All that are left.
  func takeRest() -> [ConversationWorker.Begun] {
    rest.withLock { rest in
      defer { rest = [] }
      return Array(rest)
    }
  }
}
