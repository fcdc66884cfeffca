import Control
import Delivery
import Spooling

/// Has a command carried out: by the daemon when one runs, else right here under the daemon's lock.
///
/// - Throws: `Failure` when not everything that was asked could be done.
func carryOut(_ request: ControlRequest, on spool: Spool) async throws {
  let reply: ControlReply
  if let answer = try ControlClient.ask(request, in: spool.state, patience: 60) {
    reply = answer
  } else {
    reply = try await Daemon.withoutDaemon(spool) { await $0.perform(request) }
  }
  if let error = reply.error { throw Failure(.unavailable, error) }
  for outcome in reply.outcomes {
    let line = outcome.subject.isEmpty ? outcome.sentence : "\(escaped(outcome.subject)): \(outcome.sentence)"
    if outcome.isDone { print(line) } else { Terminal.complain(line) }
  }
  let undone = reply.outcomes.filter { !$0.isDone }.count
  if undone > 0 { throw Failure(.unavailable, "\(undone) of \(reply.outcomes.count) could not be done") }
}
