import Ledgers
import Logging
import ServiceLifecycle

/// Checks a large ledger for damage while the daemon works. The ledger reports a finding like any other error:
/// `Ledger.onFailure`.
struct LedgerCheck: Service {
  let ledger: Ledger
  let log: Logger

  func run() async throws {
    do {
      try await cancelWhenGracefulShutdown { try await ledger.checkIntegrity() }
      log.debug("the ledger is whole")
    } catch {
      let isStopping = Task.isCancelled || Task.isShuttingDownGracefully
      if !isStopping { log.warning("the ledger is not looked through", metadata: ["error": "\(error)"]) }
    }
    try? await gracefulShutdown()
  }
}
