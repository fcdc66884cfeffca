import Synchronization

/// Has batches give back in time what waits in them. One sleeper does it for all, since a timer for each costs a thirtieth
/// of all that a text takes; while no batch is under way there is none.
final class BatchTimeout: Sendable {
  private struct Watched {
    let batch: TextBatch
    let due: ContinuousClock.Instant
    let giveBack: @Sendable () async throws -> Void
  }

  private let state = Mutex<(batches: [Watched], hasSleeper: Bool)>(([], false))

  /// Has `giveBack` called once if `batch` is not over within `BatchSize.time`.
  func watch(_ batch: TextBatch, giveBack: @escaping @Sendable () async throws -> Void) {
    let watched = Watched(batch: batch, due: .now + BatchSize.time, giveBack: giveBack)
    let isAlone = state.withLock { state in
      state.batches.append(watched)
      defer { state.hasSleeper = true }
      return !state.hasSleeper
    }
    if isAlone { Task { await attend() } }
  }

  private func attend() async {
    while let due = lookAfterAll() { try? await Task.sleep(until: due, clock: .continuous) }
  }

  /// - Returns: when the next batch is due; nil, and no sleeper then, when none is left.
  private func lookAfterAll() -> ContinuousClock.Instant? {
    let now = ContinuousClock.now
    return state.withLock { state in
      for watched in state.batches where watched.due <= now { watched.batch.isDue(watched.giveBack) }
      state.batches.removeAll { $0.due <= now || $0.batch.isOver }
      state.hasSleeper = !state.batches.isEmpty
      return state.batches.first?.due
    }
  }
}
