import Control
import Ledgers
import Spooling
import Synchronization

/// Whether anything has changed that a page shows.
struct LiveNews: Sendable, Equatable {
  /// Grows with every change of the ledger, of `new/`, `failed/`, or of a draft.
  var count: UInt64 = 0
  /// Upload progress by message; nil if no daemon runs.
  var progress: [String: Double]?
  /// Grows with every sign of life.
  var beat: UInt64 = 0
}

/// Asks the ledger, the spool and the daemon for news. It blocks; one thread asks.
final class LiveProbe: Sendable {
  private struct State {
    var changes: LedgerChanges
    var places: [Int64] = []
    var news = LiveNews()
    var looks = 0
    /// Looks until the daemon is asked less often.
    var warm = 0
  }

  private let spool: Spool
  private let state: Mutex<State>

  /// Looks after a change during which the daemon is asked every time.
  private static let warmth = 8
  /// Looks between two questions to a daemon that has nothing to do.
  private static let coolness = 8
  /// Looks between two signs of life: 20 s.
  private static let beat = 80

  init(_ spool: Spool) {
    self.spool = spool
    state = Mutex(State(changes: LedgerChanges(in: spool.state)))
  }

  /// The news at this moment.
  ///
  /// - Parameter isFirst: whether somebody begins to listen: the daemon is asked as after a change.
  func look(isFirst: Bool) -> LiveNews {
    state.withLock { state in
      if isFirst { state.warm = Self.warmth }
      let places = places()
      let hasChanged = state.changes.haveCome()
      if hasChanged || places != state.places {
        state.news.count += 1
        state.warm = Self.warmth
      }
      state.places = places
      state.looks += 1
      // It is asked without a change, too, since a daemon may end without one.
      if state.warm > 0 || state.news.progress?.isEmpty == false || state.looks % Self.coolness == 0 {
        let progress = (try? ControlClient.ask(.progress, in: spool.state))?.progress
        if (progress == nil) != (state.news.progress == nil) { state.warm = Self.warmth }
        state.news.progress = progress
        // A change between two questions is told once more when the last one of a series is answered.
        if state.warm == 1 { state.news.count += 1 }
      }
      state.warm = max(0, state.warm - 1)
      if state.looks % Self.beat == 0 { state.news.beat += 1 }
      return state.news
    }
  }

  /// When the directories changed that the ledger does not know.
  private func places() -> [Int64] {
    let drafts = (try? OpenDraft.all(withPrefix: DraftDesk.prefix, in: spool))?.map(\.modified) ?? []
    return [spool.new, spool.failed, spool.draft].map { (try? $0.entry().modified) ?? 0 } + drafts
  }
}
