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

  private struct State {
    var last: Round?
    var running: Task<Round, Never>?
  }

  private let state = Mutex(State())

  var last: Round? { state.withLock(\.last) }
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
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        _ = await withTaskCancellationHandler {
          await round.value
        } onCancel: {
        }
      }
      group.addTask { try? await Task.sleep(for: patience) }
      await group.next()
      group.cancelAll()
    }
  }
}
