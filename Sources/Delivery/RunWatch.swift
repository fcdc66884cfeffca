import Synchronization

/// Has runs give back in time what waits in them. One sleeper does it for all, since a timer for each costs a thirtieth
/// of all that a text takes; while no run is under way there is none.
final class RunWatch: Sendable {
  private struct Watched {
    let line: RunLine
    let due: ContinuousClock.Instant
    let giveBack: @Sendable () async throws -> Void
  }

  private let state = Mutex<(runs: [Watched], hasSleeper: Bool)>(([], false))

  /// Has `giveBack` called once if `line` is not over within `RunPace.time`.
  func watch(_ line: RunLine, giveBack: @escaping @Sendable () async throws -> Void) {
    let watched = Watched(line: line, due: .now + RunPace.time, giveBack: giveBack)
    let isAlone = state.withLock { state in
      state.runs.append(watched)
      defer { state.hasSleeper = true }
      return !state.hasSleeper
    }
    if isAlone { Task { await attend() } }
  }

  private func attend() async {
    while let due = lookAfterAll() { try? await Task.sleep(until: due, clock: .continuous) }
  }

  /// - Returns: when the next run is due; nil, and no sleeper then, when none is left.
  private func lookAfterAll() -> ContinuousClock.Instant? {
    let now = ContinuousClock.now
    return state.withLock { state in
      for run in state.runs where run.due <= now { run.line.isDue(run.giveBack) }
      state.runs.removeAll { $0.due <= now || $0.line.isOver }
      state.hasSleeper = !state.runs.isEmpty
      return state.runs.first?.due
    }
  }
}
