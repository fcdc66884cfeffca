import Dispatch
import Synchronization

/// A fixed number of threads for blocking calls: file I/O, image work, SQLite. They must not run on Swift's cooperative
/// threads, of which there is one per processor. Work starts in the order of arrival.
package final class BlockingPool: Sendable {
  private struct State {
    var waiting: ArraySlice<@Sendable () -> Void> = []
    var running = 0
  }

  private let state = Mutex(State())
  private let queue: DispatchQueue
  private let threads: Int

  /// - Parameter threads: the calls that may block at once; at least 1.
  package init(label: String, threads: Int) {
    self.threads = max(1, threads)
    queue = DispatchQueue(label: label, attributes: .concurrent)
  }

  /// Runs `work` on a thread of the pool, without holding the caller's.
  package func run<Success: Sendable>(
    _ work: @escaping @Sendable () throws -> Success
  ) async throws -> Success {
    try await withCheckedThrowingContinuation { continuation in
      submit { continuation.resume(with: Result(catching: work)) }
    }
  }

  private func submit(_ work: @escaping @Sendable () -> Void) {
    let startsThread = state.withLock { state in
      state.waiting.append(work)
      guard state.running < threads else { return false }
      state.running += 1
      return true
    }
    if startsThread { queue.async { self.drain() } }
  }

  private func drain() {
    while let work = takeNext() { work() }
  }

  private func takeNext() -> (@Sendable () -> Void)? {
    state.withLock { state in
      if let work = state.waiting.popFirst() { return work }
      // The slice keeps taken work in memory until it grows or is replaced.
      state.waiting = []
      state.running -= 1
      return nil
    }
  }
}
