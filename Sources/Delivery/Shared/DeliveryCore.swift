import Ledgers
import Logging
import Spooling

/// Shared by the services of one ledger: those of the daemon, or those of an owner in a cluster. Each core has its own ledger
/// and signals. The rest an owner has in common with the daemon, which reports it.
struct DeliveryCore: Sendable {
  let spool: Spool
  let ledger: Ledger
  let plan: PlanInForce
  let signals = DaemonSignals()
  let times: StepTimes
  let troubles: Troubles
  let log: Logger
}

/// A part of the daemon that has a core, and reaches the core's parts by their names.
protocol HasCore {
  var core: DeliveryCore { get }
}

extension HasCore {
  var spool: Spool { core.spool }
  var ledger: Ledger { core.ledger }
  var plan: PlanInForce { core.plan }
  var signals: DaemonSignals { core.signals }
  var times: StepTimes { core.times }
  var troubles: Troubles { core.troubles }
  var log: Logger { core.log }
}
