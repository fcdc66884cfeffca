import Synchronization

/// Returns the waiting texts of batches that take too long. One sleeper serves all, because a timer per batch costs a
/// thirtieth of a text's time; without batches there is none.
final class BatchTimeout: Sendable {
  private struct Watched {
    let batch: TextBatch
    let due: ContinuousClock.Instant
    let giveBack: @Sendable () async throws -> Void
  }

  private let state = Mutex<(batches: [Watched], hasSleeper: Bool)>(([], false))

  /// Calls `giveBack` once if `batch` is not over within `BatchSize.time`.
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

  /// - Returns: when the next batch is due; nil, without a sleeper, if there is none.
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
