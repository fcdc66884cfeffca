import ServiceLifecycle
import Supervision

/// Gives the service manager a sign of life, as often as it wants one, but only while requests are taken, conversations
/// are served and the ledger keeps what it is told: each of them has to answer from its own loop. One that hangs ends
/// the signs, and the manager starts the daemon anew.
struct Watchdog: Service {
  let manager: ServiceManager?
  /// Those that have to answer, one after the other.
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
