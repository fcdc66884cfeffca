import Control
import DurableFiles
import Logging
import ServiceLifecycle

/// Serves commands while the daemon runs.
struct ControlService: Service {
  let state: Directory
  let commands: CommandHandler
  let log: Logger

  func run() async throws {
    let server = try ControlServer(in: state) { [self] request in
      let reply = await commands.perform(request)
      log.note(request, reply)
      return reply
    }
    try? await gracefulShutdown()
    server.stop()
  }
}

extension Logger {
  /// Logs a command, with one line for each request or conversation.
  func note(_ request: ControlRequest, _ reply: ControlReply) {
    let (event, subject) =
      switch request {
      case .cancel: ("cancel", "request")
      case .hold: ("hold", "conversation")
      case .release: ("release", "conversation")
      case .flush: ("flush", "")
      case .reveal: ("reveal", "message")
      case .hide: ("hide", "message")
      case .prefer: ("prefs", "conversation")
      case .preferInInbox: ("prefs", "inbox")
      case .clear: ("clear", "")
      case .progress, .metrics, .listening, .check, .checkSpool, .destinations, .objects, .want, .viewed: ("", "")
      }
    if event.isEmpty { return }
    if let error = reply.error { self.error("\(event)", metadata: ["error": "\(error)"]) }
    for outcome in reply.outcomes {
      var metadata: Logger.Metadata = ["outcome": "\(outcome.sentence)"]
      if !subject.isEmpty { metadata[subject] = "\(outcome.subject)" }
      info("\(event)", metadata: metadata)
    }
  }
}
