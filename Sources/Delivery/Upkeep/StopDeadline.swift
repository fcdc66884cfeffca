import Dispatch
import Logging
import ServiceLifecycle
import Supervision

/// The first service that is asked to stop: tells the service manager, and has the process ended when stopping takes longer
/// than it may, as it does while a disk hangs.
///
/// It watches from threads of its own: what hangs holds others.
struct StopDeadline: Service {
  /// What writing the last line of the log may take, in seconds; it may go to the disk that hangs.
  private static let lastLine = 0.5

  let manager: ServiceManager?
  /// How long stopping may take, in seconds; nil when it may take as long as it likes.
  let seconds: Double?
  let log: Logger
  /// Is called once the time is up, on a thread of its own; it has to end the process and close nothing. What is in hand
  /// is as after a kill.
  let overdue: @Sendable () -> Void

  func run() async throws {
    try? await gracefulShutdown()
    manager?.stopping()
    guard let seconds else { return }
    let queue = DispatchQueue(label: "stop deadline", attributes: .concurrent)
    queue.asyncAfter(deadline: .now() + seconds) { [log] in
      log.critical(
        "stopping takes too long, as when a disk hangs; ending at once, and what is in hand starts again at the next start"
      )
    }
    queue.asyncAfter(deadline: .now() + seconds + Self.lastLine, execute: overdue)
  }
}
