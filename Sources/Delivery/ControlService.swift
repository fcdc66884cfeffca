import Control
import DurableFiles
import Logging
import ServiceLifecycle

/// Listens for commands as long as the daemon runs.
struct ControlService: Service {
  let state: Directory
  let commands: CommandHandler
  let log: Logger

  func run() async throws {
    let server = try ControlServer(in: state) { [self] request in
      let reply = await commands.perform(request)
      note(request, reply)
      return reply
    }
    try? await gracefulShutdown()
    server.stop()
  }

  /// One line for each request or conversation that was asked to change.
  private func note(_ request: ControlRequest, _ reply: ControlReply) {
    let (event, subject) =
      switch request {
      case .cancel: ("cancel", "request")
      case .hold: ("hold", "conversation")
      case .release: ("release", "conversation")
      case .flush: ("flush", "")
      case .reveal: ("reveal", "message")
      case .prefer: ("prefs", "conversation")
      case .preferInInbox: ("prefs", "inbox")
      case .progress, .metrics, .listening, .want, .viewed: ("", "")
      }
    if event.isEmpty { return }
    if let error = reply.error { log.error("\(event)", metadata: ["error": "\(error)"]) }
    for outcome in reply.outcomes {
      var metadata: Logger.Metadata = ["outcome": "\(outcome.sentence)"]
      if !subject.isEmpty { metadata[subject] = "\(outcome.subject)" }
      log.info("\(event)", metadata: metadata)
    }
  }
}

extension CommandHandler {
  /// Cancels the requests that a file in `cancel/` names, already between two batches.
  func cancelFromFile(_ names: [String], log: Logger) async {
    var hooks = hooks
    hooks.betweenBatches = { await $0() }
    let direct = CommandHandler(spool: spool, ledger: ledger, hooks: hooks)
    let together = await direct.perform(.cancel(names))
    var replies = [together]
    if together.error != nil {
      // One that cannot be cancelled is no reason to leave the others.
      replies = []
      for name in names { replies.append(await direct.perform(.cancel([name]))) }
    }
    for error in replies.compactMap(\.error) { log.error("cancel", metadata: ["error": "\(error)"]) }
    for outcome in replies.flatMap(\.outcomes) {
      log.info("cancel", metadata: ["request": "\(outcome.subject)", "outcome": "\(outcome.sentence)"])
    }
  }
}
