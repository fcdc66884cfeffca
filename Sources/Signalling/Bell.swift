import ServiceLifecycle
import Synchronization

/// Wakes one service. Rings that come while the service works are remembered as one.
package final class Bell: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let alarm = Mutex<(time: ContinuousClock.Instant, task: Task<Void, Never>)?>(nil)

  /// Makes a bell that nobody has rung.
  package init() { (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

  /// Wakes the service, now or as soon as it waits.
  package func ring() { continuation.yield() }

  /// Rings in `seconds`, or at the time that was set before if that is earlier.
  package func ring(in seconds: Double) {
    let time = ContinuousClock.now + .seconds(max(0, seconds))
    alarm.withLock { alarm in
      if let set = alarm?.time, set <= time, set > .now { return }
      alarm?.task.cancel()
      let task = Task { [continuation] in
        try? await Task.sleep(until: time, clock: .continuous)
        if !Task.isCancelled { continuation.yield() }
      }
      alarm = (time, task)
    }
  }

  /// Forgets the time that was set.
  package func silence() {
    alarm.withLock { alarm in
      alarm?.task.cancel()
      alarm = nil
    }
  }

  /// Ends `rings`.
  package func retire() {
    silence()
    continuation.finish()
  }

  /// The rings, one by one, until the bell is retired or the task is cancelled. For one reader.
  package var rings: AsyncStream<Void> { stream }
}

extension Bell {
  /// The loop of a service: runs `work` after each ring until the service is to stop. Work in progress is finished.
  ///
  /// - Parameters:
  ///   - stopping: is called once when the service is to stop, on any thread, before the loop ends.
  ///   - failed: is told of an error that `work` threw; it answers in how many seconds the bell rings again, or nil.
  package func serve(
    isolation: isolated (any Actor)? = #isolation, stopping: @escaping @Sendable () -> Void = {},
    _ work: () async throws -> Void, failed: (any Error) async -> Double?
  ) async {
    await withGracefulShutdownHandler {
      for await _ in rings where !Task.isShuttingDownGracefully {
        do { try await work() } catch {
          if let seconds = await failed(error) { ring(in: seconds) }
        }
      }
    } onGracefulShutdown: {
      stopping()
      self.retire()
    }
    silence()
  }
}
