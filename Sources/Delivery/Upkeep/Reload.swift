import Blocking
import Ledgers
import Logging
import Messages
import Networks
import ServiceLifecycle
import Signalling
import Supervision
import UnixSignals

/// Applies a new configuration for each signal. An invalid one changes nothing. Order: everything is read and made;
/// removed networks end their co-processes, so that two never share one; the plan is replaced; everything that waits is
/// tried at once. Work in progress continues with the old plan. A photo that is in progress or stored under a seal or
/// store that its route no longer has is dropped and uploaded again; its object is deleted.
struct Reload: Service, HasCore {
  let core: DeliveryCore
  let photos: PhotoPipeline
  let circuits: Circuits
  let outcome: InForce<ReloadOutcome>
  let manager: ServiceManager?
  let reports: Reports
  /// Publishes for the hosts of a cluster, if this is one of them.
  let owner: Owner?
  let orders: UnixSignalsSequence?
  let read: @Sendable () throws -> Reconfiguration
  private let pool = BlockingPool(label: "configuration", threads: 1)

  func run() async throws {
    guard let orders else {
      try? await gracefulShutdown()
      return
    }
    for await _ in orders.cancelOnGracefulShutdown() { await reload() }
  }

  func reload() async {
    manager?.reloading()
    var status = "The configuration was read again."
    do {
      let new = try await pool.run(read)
      await adopt(new)
      outcome.replace(with: ReloadOutcome(isGood: true, at: .now()))
      log.notice(
        "configuration reloaded",
        metadata: [
          "changed": "\(new.changed.joined(separator: " "))", "anew": "\(new.anew.joined(separator: ", "))",
        ])
      for key in new.needRestart {
        log.warning("a setting takes effect with the next start only", metadata: ["setting": "\(key)"])
      }
    } catch {
      status = "The new configuration is wrong; the old one stays in force."
      outcome.replace(with: ReloadOutcome(isGood: false, at: outcome.now.at))
      for sentence in "\(error)".split(separator: "\n") {
        log.error(
          "the new configuration is refused; the old one stays in force", metadata: ["error": "\(sentence)"])
      }
    }
    manager?.ready(status)
  }

  private func adopt(_ new: Reconfiguration) async {
    let former = plan.destinations.networks
    let kept = new.plan.destinations.networks
    for gone in former where !kept.contains(where: { $0.key == gone.key }) { await gone.network.stop() }
    plan.replace(with: new.plan)
    new.adopt()
    photos.followPlan()
    do {
      await circuits.closeAll()
      _ = try await ledger.flush(at: .now())
    } catch {
      log.error("what waits is not tried before its time", metadata: ["error": "\(error)"])
    }
    do { try await owner?.follow() } catch {
      log.error("what waits for the cluster is not tried before its time", metadata: ["error": "\(error)"])
    }
    signals.ringAll()
    reports.wake()
  }
}

struct ReloadOutcome: Sendable {
  let isGood: Bool
  /// When the configuration in force was read.
  let at: Timestamp
}
