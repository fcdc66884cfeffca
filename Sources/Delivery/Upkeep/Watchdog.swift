import ServiceLifecycle
import Supervision

/// Sends heartbeats to the service manager while intake, dispatcher and ledger answer from their own loops. If one
/// hangs, the heartbeats end, and the manager restarts the daemon.
struct Watchdog: Service {
  let manager: ServiceManager?
  /// Calls that must answer, one after the other.
  let answers: [@Sendable () async throws -> Void]

  func run() async throws {
    guard let manager, let patience = manager.patience else {
      try? await gracefulShutdown()
      return
    }
    try? await cancelWhenGracefulShutdown {
      while true {
        for answer in answers { try await answer() }
        manager.isAlive()
        try await Task.sleep(for: .seconds(patience / 2))
      }
    }
  }
}
