import ArgumentParser
import CKernel
import Delivery
import Foundation
import Hooks
import Logging
import Messages
import Receiving
import Settings
import Spooling
import Supervision
import UnixSignals

struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run the daemon in the foreground; SIGTERM finishes what is in hand and stops, SIGHUP reloads.")

  @OptionGroup var options: SpoolOptions

  func run() async throws {
    // Trapped from here on, so that a reload during the start neither ends the daemon nor is lost.
    let reloads = await UnixSignalsSequence(trapping: .sighup)
    let settings = try options.settings(as: .configured)
    try SpoolUser.startOver()
    // A closed log reader must not end the daemon.
    signal(SIGPIPE, SIG_IGN)
    // The daemon's files are private; client directories get explicit permissions.
    umask(0o077)
    // A shell's default of 1,024 is too few for many requests and uploads.
    _ = ckernel_allow_descriptors(4096)
    ckernel_join_freed_memory()
    let logSetting = LogSetting(settings.log)
    let handler = LineLog(logSetting)
    LoggingSystem.bootstrap { _ in handler }
    let log = Logger(label: "photospool")
    if geteuid() == 0 { log.warning("running as root; name another user with spool.user") }
    if access(DarkroomProgram.path, X_OK) != 0 {
      log.warning(
        "photos cannot be prepared: photospool-darkroom is missing; install photospool again",
        metadata: ["program": "\(DarkroomProgram.path)"])
    }
    let spool = try Spool(creating: settings.spool.directory)
    let configured = try Configured(settings, spool: spool, after: nil, log: log)
    let inForce = ConfiguredInForce(configured)
    let hooks = HookLine(settings: { inForce.now.settings.hooks }, log: log)
    let listeners = try ListenerService(
      spool: spool, subscriptions: configured.subscriptions,
      settings: { inForce.now.settings.delivery }, log: log)
    let daemon = try await Daemon(
      spool: spool, plan: configured.plan,
      manager: ServiceManager(environment: ProcessInfo.processInfo.environment), hooks: hooks, log: log,
      receiving: { ledger, mailbox in
        let receiver = try Receiver(
          spool: spool, ledger: ledger, mailbox: mailbox, plan: { inForce.now.receiving }, log: log
        ) { photo in
          // A sent photo that was fetched again is no event.
          if photo.isOwn { return }
          hooks.tell(
            .received,
            PhotoNotice(
              message: photo.message.text, conversation: photo.conversation.description, inbox: photo.inbox.text,
              sender: photo.sender?.text, receivedAt: Timestamp.now().description))
        }
        return PhotoReceiving(receiver: receiver, listeners: listeners)
      }, ledgerFailed: { _exit((ExitStatus(for: $0) ?? .inputOutput).rawValue) })
    try await daemon.run(
      signals: [.sigterm, .sigint], reloads: reloads, overdue: { _exit(ExitStatus.tryAgain.rawValue) }
    ) { [options] in
      let former = inForce.now
      let new = try Configured(options.settings(), spool: spool, after: former, log: log)
      let changed = new.settings.changedKeys(since: former.settings)
      return Reconfiguration(
        plan: new.plan, changed: changed, needRestart: changed.filter(Configured.isFixed), anew: new.factory.anew
      ) {
        inForce.replace(with: new)
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
