import Children
import Foundation
import Glibc
import Logging
import Messages
import ServiceLifecycle
import Settings
import Signalling
import Synchronization

/// Tells programs what has happened, beside delivery and never in its way: whoever tells it something returns at once.
///
/// Each event has a line and a program of its own, one process at a time, so that one that hangs holds up nobody else. It
/// is told at most once of each event: nothing is told again, not after a failure, not after a crash, and what does not
/// fit into the line is dropped and counted. A program that has to know everything reads the receipts, or is a network.
package final class HookLine: Service {
  /// How often each program was run, did not end with 0, and was not told because its line was full.
  package struct Counts: Sendable, Equatable {
    package var run = 0
    package var failed = 0
    package var dropped = 0
  }

  private struct Line {
    var waiting: [[UInt8]] = []
    var counts = Counts()
    /// What was dropped since the log said so.
    var unsaid = 0
    /// When the program was started within the last minute.
    var starts: [ContinuousClock.Instant] = []
  }

  /// Events that wait for one program.
  static let longest = 256
  /// Seconds that a program may take to end itself when it is told to.
  private static let grace = Duration.seconds(2)
  private static let environment = ["PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"]

  private let lines = Mutex<[HookEvent: Line]>([:])
  private let settings: @Sendable () -> Settings.Hooks
  private let log: Logger
  private let bells = Dictionary(uniqueKeysWithValues: HookEvent.allCases.map { ($0, Bell()) })

  /// - Parameter settings: those in force at the moment.
  package init(settings: @escaping @Sendable () -> Settings.Hooks, log: Logger) {
    self.settings = settings
    self.log = log
  }

  /// Has the event's program told of `notice`, unless there is none.
  package func tell(_ event: HookEvent, _ notice: @autoclosure () -> some Encodable) {
    guard settings().programs[event] != nil else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let body = try? encoder.encode(notice()) else { return }
    lines.withLock { lines in
      var line = lines[event] ?? Line()
      if line.waiting.count < Self.longest {
        line.waiting.append([UInt8](body) + [UInt8(ascii: "\n")])
      } else {
        line.counts.dropped += 1
        line.unsaid += 1
      }
      lines[event] = line
    }
    bells[event]?.ring()
  }

  /// By event.
  package var counts: [HookEvent: Counts] {
    let lines = lines.withLock { $0 }
    return Dictionary(uniqueKeysWithValues: HookEvent.allCases.map { ($0, lines[$0]?.counts ?? Counts()) })
  }

  /// Works until the service is to stop; then the programs are ended, and what still waits is not told.
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
        // The configuration may have changed meanwhile.
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

  /// Waits until the program may be started once more.
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
      // A configuration that allows more is followed soon.
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
      lines[event, default: Line()].counts.run += 1
      if fault != nil { lines[event, default: Line()].counts.failed += 1 }
    }
    guard let fault, !Task.isCancelled else { return }
    log.warning("a hook failed", metadata: ["hook": "\(event.rawValue)", "error": "\(fault)"])
  }

  /// Runs the program to its end. Returns why it failed; nil when it did not.
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
