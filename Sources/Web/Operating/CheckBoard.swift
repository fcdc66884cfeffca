import Control
import Messages
import Synchronization

/// The last round of checks, which stays until the next one.
final class CheckBoard: Sendable {
  struct Round: Sendable {
    let at: Timestamp
    let outcomes: [ControlReply.Outcome]
    /// Why there are none of the daemon's destinations.
    var fault: String?
  }

  private let state = Mutex<(last: Round?, running: Task<Round, Never>?)>((nil, nil))

  var last: Round? { state.withLock { $0.last } }
  var isRunning: Bool { state.withLock { $0.running != nil } }

  /// Runs a round, or waits for the one that runs.
  ///
  /// - Parameter patience: a slower round goes on, and stands on the board at its end.
  func run(patience: Duration, _ check: @escaping @Sendable () async -> Round) async {
    let round = state.withLock { state in
      if let running = state.running { return running }
      let task = Task {
        let round = await check()
        self.state.withLock { ($0.last, $0.running) = (round, nil) }
        return round
      }
      state.running = task
      return task
    }
    // Whatever ends first. A task that waits for a round cannot be cancelled.
    let (ended, end) = AsyncStream.makeStream(of: Void.self)
    Task {
      _ = await round.value
      end.finish()
    }
    let patience = Task {
      try? await Task.sleep(for: patience)
      end.finish()
    }
    for await _ in ended {}
    patience.cancel()
  }
}
