import ServiceLifecycle
import Synchronization

/// Signals one service. Rings while it works are remembered as one.
package final class Bell: Sendable {
  /// The rings, until the bell is retired or the task is cancelled. For one reader.
  package let rings: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let alarm = Mutex<(time: ContinuousClock.Instant, task: Task<Void, Never>)?>(nil)
  /// Callers that wait for an answer of the loop; nil once it has ended.
  private let askers = Mutex<[CheckedContinuation<Void, Never>]?>([])

  package init() { (rings, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

  /// Signals the service, now or as soon as it waits.
  package func ring() { continuation.yield() }

  /// Rings in `seconds`, unless an earlier time is set.
  package func ring(in seconds: Double) {
    let time = ContinuousClock.now + .seconds(max(0, seconds))
    alarm.withLock { alarm in
      // A task whose time has come still rings.
      if let alarm, alarm.time > .now {
        if alarm.time <= time { return }
        alarm.task.cancel()
      }
      let task = Task { [continuation] in
        try? await Task.sleep(until: time, clock: .continuous)
        if !Task.isCancelled { continuation.yield() }
      }
      alarm = (time, task)
    }
  }

  /// Forgets the set time.
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
}

extension Bell {
  /// Returns when the loop of the service begins again, or calls `answer`; at once if the loop has ended.
  package func answers() async {
    await withCheckedContinuation { asker in
      let waits = askers.withLock { askers in
        askers?.append(asker)
        return askers != nil
      }
      if waits { ring() } else { asker.resume() }
    }
  }

  /// Answers those who wait for the loop, in work that takes long.
  package func answer() { answer(isLast: false) }

  private func answer(isLast: Bool) {
    let waiting = askers.withLock { askers in
      // A loop that has ended does not begin again.
      defer { askers = isLast || askers == nil ? nil : [] }
      return askers ?? []
    }
    for asker in waiting { asker.resume() }
  }

  /// The loop of a service: runs `work` after each ring, and finishes the work in progress when it stops.
  ///
  /// - Parameters:
  ///   - stopping: called once, on any thread, before the loop ends.
  ///   - failed: gets an error of `work`; returns the seconds until the next ring, or nil.
  package func serve(
    isolation: isolated (any Actor)? = #isolation, stopping: @escaping @Sendable () -> Void = {},
    _ work: () async throws -> Void, failed: (any Error) async -> Double?
  ) async {
    await withGracefulShutdownHandler {
      for await _ in rings where !Task.isShuttingDownGracefully {
        answer()
        do { try await work() } catch {
          if let seconds = await failed(error) { ring(in: seconds) }
        }
      }
    } onGracefulShutdown: {
      stopping()
      self.retire()
    }
    silence()
    answer(isLast: true)
  }
}
