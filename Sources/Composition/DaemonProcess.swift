import Delivery
import Foundation
import Hooks
import LogOutput
import Logging
import Messages
import Receiving
import Settings
import Signalling
import Spooling
import Stores
import Supervision
import UnixSignals

/// The daemon of one configuration: its destinations, its receiving and its hooks around `Daemon`.
package struct DaemonProcess: Sendable {
  private let spool: Spool
  private let inForce: InForce<Configured>
  private let listeners: ListenerService
  private let daemon: Daemon
  private let logSetting: LogSetting
  private let log: Logger

  /// Makes the spool where there is none, and claims it.
  ///
  /// - Throws: as `Daemon.init`; when anything of the configuration is wrong.
  package init(_ settings: Settings, logSetting: LogSetting, log: Logger) async throws {
    let spool = try Spool(creating: settings.spool.directory)
    let configured = try Configured(settings, spool: spool, after: nil, log: log)
    let inForce = InForce(configured)
    let hooks = HookLine(settings: { inForce.now.settings.hooks }, log: log)
    let mail = try settings.makeMailRoom(spool, settings: { inForce.now.settings }, log: log)
    let listeners = try ListenerService(
      spool: spool, subscriptions: configured.subscriptions, settings: { inForce.now.settings.delivery }, log: log)
    let cluster = try settings.makeCluster(spool, settings: { inForce.now.settings })
    daemon = try await Daemon(
      spool: spool, plan: configured.plan,
      manager: ServiceManager(environment: ProcessInfo.processInfo.environment), hooks: hooks, mail: mail,
      cluster: cluster, log: log,
      check: {
        // Settings and destinations of one moment.
        let configured = inForce.now
        let destinations = await DestinationChecks(
          of: configured.plan.destinations, settings: configured.settings,
          listening: { await PhotoReceiving.report(of: listeners) }
        ).round()
        guard let cluster else { return destinations }
        return destinations
          + (await ClusterCheck(
            queue: cluster.queue, bytes: cluster.bytes as? S3Blobs, routes: configured.settings.routesDigest
          ).outcomes())
      },
      checkSpool: { try await SpoolChecks(inForce.now.settings).outcomes() },
      receiving: { ledger, mailbox in
        let receiver = try Receiver(
          spool: spool, ledger: ledger, mailbox: mailbox, plan: { inForce.now.receiving }, log: log
        ) { photo in
          // One of ours that was fetched again is no news.
          if photo.isOwn { return }
          hooks.tell(
            .received,
            PhotoNotice(
              message: photo.message.text, conversation: photo.conversation.description, inbox: photo.inbox.text,
              sender: photo.sender?.text, receivedAt: Timestamp.now().description))
        }
        return PhotoReceiving(receiver: receiver, listeners: listeners)
      }, ledgerFailed: { _exit((ExitStatus(for: $0) ?? .inputOutput).rawValue) })
    (self.spool, self.inForce, self.listeners, self.logSetting, self.log) = (spool, inForce, listeners, logSetting, log)
  }

  /// Runs until a signal ends it.
  ///
  /// - Parameters:
  ///   - reloads: each of these has the configuration read again.
  ///   - read: reads the configuration.
  package func run(
    signals: [UnixSignal] = [.sigterm, .sigint], reloads: UnixSignalsSequence?,
    read: @escaping @Sendable () throws -> Settings
  ) async throws {
    try await daemon.run(signals: signals, reloads: reloads, overdue: { _exit(ExitStatus.tryAgain.rawValue) }) {
      let former = inForce.now
      let new = try Configured(read(), spool: spool, after: former, log: log)
      let changed = new.settings.changedKeys(since: former.settings)
      let needRestart = changed.filter { Configured.isFixed($0, former: former.settings, new: new.settings) }
      return Reconfiguration(
        plan: new.plan, changed: changed, needRestart: needRestart, anew: new.factory.anew
      ) {
        let former = inForce.replace(with: new)
        // Its processes end after their photo.
        if former.darkroom !== new.darkroom { former.darkroom.close() }
        listeners.follow(new.subscriptions)
        Task { await listeners.hurry() }
        logSetting.replace(with: new.settings.log)
      }
    }
    inForce.now.darkroom.close()
  }
}

/// The event of a received photo; `photospool view MESSAGE` prints the path of what may be shown. Keys are never renamed
/// once released, and absent if they do not apply.
private struct PhotoNotice: Encodable {
  let event = HookEvent.received
  let message: String
  let conversation: String
  let inbox: String
  /// The sender in the network's words; absent if unknown.
  let sender: String?
  let receivedAt: String
}
