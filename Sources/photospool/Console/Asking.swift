import Composition
import Control
import Delivery
import Messages
import Spooling

/// Carries out a command: in the daemon, or here under its lock if none runs.
///
/// - Throws: `Failure` unless everything was done.
func carryOut(_ request: ControlRequest, on spool: Spool) async throws {
  let reply: ControlReply
  if let answer = try askDaemon(request, on: spool) {
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

private func askDaemon(_ request: ControlRequest, on spool: Spool) throws -> ControlReply? {
  do {
    return try ControlClient.ask(request, in: spool.state, patience: 60) {
      Terminal.complain("the daemon does not answer yet; waiting for it")
    }
  } catch ControlError.noAnswer {
    throw Failure(
      .unavailable,
      "the daemon runs and does not answer; it may still carry out the command, so look at `photospool queue`"
    )
  }
}

/// The names of a command line, with `-` replaced by those on standard input, one a line.
func expanded(_ names: [String]) -> [String] {
  names.flatMap { name -> [String] in
    guard name == "-" else { return [name] }
    var lines = [String]()
    while let line = readLine() { if !line.isEmpty { lines.append(line) } }
    return lines
  }
}

extension [String] {
  /// Parts that fit into one request to the daemon.
  var orders: [[String]] { stride(from: 0, to: count, by: 1000).map { Array(self[$0..<Swift.min($0 + 1000, count)]) } }
}
