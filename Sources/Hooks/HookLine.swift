import Children
import Glibc
import Logging
import Messages
import ServiceLifecycle
import Settings
import Signalling
import Synchronization

/// Runs hook programs beside delivery; reporting an event returns at once. Each event has its own queue and program,
/// one process at a time, so a hanging program delays no other. An event is reported at most once: never again after a
/// failure or a crash, and dropped and counted if the queue is full. A program that needs every event reads the
/// receipts, or is a network.
package final class HookLine: Service {
  /// Runs, failures and dropped events of each program.
  package struct Counts: Sendable, Equatable {
    package var run = 0
    package var failed = 0
    package var dropped = 0
  }

  private struct Line {
    var waiting: [[UInt8]] = []
    var counts = Counts()
    /// Dropped events since the last warning.
    var unsaid = 0
    /// The program's starts within the last minute.
    var starts: [ContinuousClock.Instant] = []
  }

  /// Events that may wait for one program.
  static let longest = 256
  /// The time between SIGTERM and SIGKILL.
  private static let grace = Duration.seconds(2)
  private static let environment = ["PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"]

  private let lines = Mutex(Dictionary(uniqueKeysWithValues: HookEvent.allCases.map { ($0, Line()) }))
  private let settings: @Sendable () -> Settings.Hooks
  private let log: Logger
  private let bells = Dictionary(uniqueKeysWithValues: HookEvent.allCases.map { ($0, Bell()) })

  /// - Parameter settings: the current ones.
  package init(settings: @escaping @Sendable () -> Settings.Hooks, log: Logger) {
    self.settings = settings
    self.log = log
  }

  /// Queues `notice` for the event's program, if there is one.
  package func tell(_ event: HookEvent, _ notice: @autoclosure () -> some Encodable) {
    guard settings().programs[event] != nil else { return }
    guard let body = try? json(notice()) else { return }
    lines.withLock { lines in
      if lines[event]?.waiting.count ?? 0 < Self.longest {
        lines[event]?.waiting.append(body + [UInt8(ascii: "\n")])
      } else {
        lines[event]?.counts.dropped += 1
        lines[event]?.unsaid += 1
      }
    }
    bells[event]?.ring()
  }

  package var counts: [HookEvent: Counts] { lines.withLock { $0.mapValues(\.counts) } }

  /// Runs until the service stops. Then the programs are ended and queued events dropped.
  package func run() async throws {
    await withTaskGroup(of: Void.self) { group in
      for event in HookEvent.allCases { group.addTask { await self.serve(event) } }
      try? await gracefulShutdown()
      group.cancelAll()
    }
  }

  private func serve(_ event: HookEvent) async {
    guard let bell = bells[event] else { return }
    for await _ in bell.rings {
      while !Task.isCancelled, let body = take(event) {
        guard (try? await pace(event)) != nil else { return }
        // The configuration may have changed.
        let settings = settings()
        if let path = settings.programs[event] { await run(path, body, for: event, within: settings.timeout.seconds) }
        sayDropped(event)
      }
    }
  }

  private func take(_ event: HookEvent) -> [UInt8]? {
    lines.withLock { lines in
      guard let line = lines[event], !line.waiting.isEmpty else { return nil }
      return lines[event]?.waiting.removeFirst()
    }
  }

  /// Waits until the program may be started again.
  private func pace(_ event: HookEvent) async throws {
    while true {
      let most = max(1, settings().perMinute)
      let free = lines.withLock { lines -> ContinuousClock.Instant? in
        var line = lines[event] ?? Line()
        let now = ContinuousClock.now
        line.starts.removeAll { $0 + .seconds(60) <= now }
        let free = line.starts.count < most ? nil : line.starts[line.starts.count - most] + .seconds(60)
        if free == nil { line.starts.append(now) }
        lines[event] = line
        return free
      }
      guard let free else { return }
      // A larger limit in the configuration takes effect soon.
      try await Task.sleep(until: min(free, .now + .seconds(5)), clock: .continuous)
    }
  }

  private func run(_ path: String, _ body: [UInt8], for event: HookEvent, within seconds: Double) async {
    let leash = ChildLeash()
    let limit = Task {
      try await Task.sleep(for: .seconds(seconds))
      leash.end(within: Self.grace)
    }
    let fault: String? = await withTaskCancellationHandler {
      await Self.fault(of: ChildProgram(path: path, environment: Self.environment), body, within: seconds, leash)
    } onCancel: {
      leash.pull(SIGKILL)
    }
    limit.cancel()
    lines.withLock { lines in
      lines[event]?.counts.run += 1
      if fault != nil { lines[event]?.counts.failed += 1 }
    }
    guard let fault, !Task.isCancelled else { return }
    log.warning("a hook failed", metadata: ["hook": "\(event.rawValue)", "error": "\(fault)"])
  }

  /// Runs the program. Returns the error, if any.
  private static func fault(
    of program: ChildProgram, _ body: [UInt8], within seconds: Double, _ leash: ChildLeash
  ) async -> String? {
    do throws(DeliveryError) {
      let end = try await program.run(input: body, capturesOutput: false, endsGroup: true, on: leash)
      return switch end.status {
      case .exited(0): nil
      case .exited(let status): "it ended with the status \(status)"
      case .killed(by: let signal): "it was ended by the signal \(signal); it may take \(seconds) s"
      }
    } catch {
      return error.sentence
    }
  }

  private func sayDropped(_ event: HookEvent) {
    let count = lines.withLock { lines in
      defer { lines[event]?.unsaid = 0 }
      return lines[event]?.unsaid ?? 0
    }
    if count == 0 { return }
    log.warning(
      "events were not told, as the hook is too slow", metadata: ["hook": "\(event.rawValue)", "count": "\(count)"])
  }
}
