import Composition
import Control
import Delivery
import Messages
import Spooling

/// Carries out a command: in the daemon, or here under its lock if none runs.
///
/// - Throws: `Failure` unless everything was done.
func carryOut(_ request: ControlRequest, on spool: Spool) async throws {
  try report(await perform(request, on: spool))
}

/// Prints the outcomes of a reply.
///
/// - Throws: `Failure` unless everything was done.
func report(_ reply: ControlReply) throws {
  if let error = reply.error { throw Failure(.unavailable, error) }
  for outcome in reply.outcomes {
    let line = outcome.subject.isEmpty ? outcome.sentence : "\(escaped(outcome.subject)): \(outcome.sentence)"
    if outcome.isDone { print(line) } else { Terminal.complain(line) }
  }
  let undone = reply.outcomes.filter { !$0.isDone }.count
  if undone > 0 { throw Failure(.unavailable, "\(undone) of \(reply.outcomes.count) could not be done") }
}

/// Carries out as much as can be of a command for each of many names, with `-` replaced by those on standard input.
///
/// - Throws: the first failure.
func carryOut(each names: [String], on spool: Spool, _ request: ([String]) -> ControlRequest) async throws {
  let names = expanded(names)
  var failure: Failure?
  // Parts that fit into one request to the daemon.
  for start in stride(from: 0, to: names.count, by: 1000) {
    let part = Array(names[start..<min(start + 1000, names.count)])
    do { try await carryOut(request(part), on: spool) } catch let error as Failure { failure = failure ?? error }
  }
  if let failure { throw failure }
}

/// The reply of the daemon, or of this process under its lock if none runs.
///
/// - Throws: `Failure` if the command could not be carried out.
func perform(_ request: ControlRequest, on spool: Spool) async throws -> ControlReply {
  if let reply = try ask(request, of: spool) { return reply }
  let done = try await Daemon.withoutDaemon(spool) { await $0.perform(request) }
  if let error = done.error { throw Failure(.unavailable, error) }
  return done
}

/// The reply of the daemon; nil if none runs.
///
/// - Parameters:
///   - patience: the time limit in seconds.
///   - command: shows whether it was carried out after all.
/// - Throws: `Failure` if the daemon does not answer; `ControlError.refused` if it could not carry out the command.
func ask(
  _ request: ControlRequest, of spool: Spool, patience: Int = 60, lookAt command: String = "photospool queue"
) throws -> ControlReply? {
  do {
    return try ControlClient.ask(request, in: spool.state, patience: patience) {
      Terminal.complain("the daemon does not answer yet; waiting for it")
    }
  } catch ControlError.noAnswer {
    throw Failure(
      .unavailable,
      "the daemon runs and does not answer; it may still carry out the command, so look at `\(command)`")
  }
}

/// Warns that nothing is sent while no daemon runs. It says nothing if the daemon does not answer, or may not be asked.
func complainIfStopped(_ spool: Spool) {
  do { if try ControlClient.ask(.progress, in: spool.state) != nil { return } } catch { return }
  complainOfStopped(spool)
}

/// Warns that no daemon runs on the spool.
func complainOfStopped(_ spool: Spool) {
  Terminal.complain("no daemon runs on \(escaped(spool.path)), so nothing is sent; start `photospool run`")
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
