import Dispatch
import Logging
import ServiceLifecycle
import Signalling
import Supervision

/// The first service to stop: notifies the service manager, and ends the process if stopping takes too long, as with a
/// hanging disk. It uses its own threads, because others may hang.
struct StopDeadline: Service {
  /// The time in seconds for the last log line, which may go to the hanging disk.
  private static let lastLine = 0.5

  let manager: ServiceManager?
  /// The time limit for stopping in seconds; nil means none.
  let seconds: Double?
  let log: Logger
  /// Called on its own thread after the limit; it must end the process without closing anything, as after a kill.
  let overdue: @Sendable () -> Void
  /// Set when everything has stopped: the limit is met.
  let hasStopped = OneWayFlag()

  func run() async throws {
    try? await gracefulShutdown()
    manager?.stopping()
    guard let seconds else { return }
    let queue = DispatchQueue(label: "stop deadline", attributes: .concurrent)
    queue.asyncAfter(deadline: .now() + seconds) { [log, hasStopped] in
      if hasStopped.isSet { return }
      log.critical(
        "stopping takes too long, as when a disk hangs; ending at once; work in progress starts again at the next start"
      )
    }
    queue.asyncAfter(deadline: .now() + seconds + Self.lastLine) { [overdue, hasStopped] in
      if !hasStopped.isSet { overdue() }
    }
  }
}
