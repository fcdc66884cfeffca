import Dispatch
import Glibc
import Messages
import Synchronization

/// A program that runs beside the daemon and answers requests: one JSON object a line each way, numbered requests, many
/// at a time, answers in any order. It starts with the first request. If it dies, hangs or sends an invalid line, the
/// next request starts a new one, with a backoff; waiting requests get the error `network` and may be repeated. Its
/// answers are untrusted: lines are limited, and anything unexpected ends the process.
final class CoProcess: Sendable {
  private typealias Answer = Result<CoProcessAnswer.Facts, DeliveryError>

  private struct Request {
    let continuation: CheckedContinuation<Answer, Never>
    /// The process that got the request, if any.
    var life: Int?
  }

  private struct State {
    var run: CoProcessRun?
    /// The number of `run`, counted from the first start.
    var life = 0
    var lastRequest = 0
    var requests: [Int: Request] = [:]
    /// Ends in a row without an answer.
    var failures = 0
    var notBefore = DispatchTime(uptimeNanoseconds: 0)
    /// Why it is not started before that time.
    var lastFailure: DeliveryError?
    var isStopped = false
  }

  private let program: CoProcessProgram
  private let log: @Sendable (String) -> Void
  private let state = Mutex(State())
  /// Starts the process and writes requests, in order; both may block.
  private let sender: DispatchQueue

  /// - Parameter log: gets the lines of standard error, escaped and limited.
  init(_ program: CoProcessProgram, log: @escaping @Sendable (String) -> Void) {
    self.program = program
    self.log = log
    sender = DispatchQueue(label: "\(program.name) requests")
  }

  var processID: Int32? { state.withLock { $0.run }?.processID }

  deinit { state.withLock { $0.run }?.kill(nil) }

  /// Sends the request `verb` with more members, and waits for the answer.
  ///
  /// - Throws: the program's error; `network` if it ended before an answer, with unknown outcome; `config_error` if it
  ///   cannot be started; `cancelled` with the task.
  func ask(
    _ verb: String, _ members: JSONObjectText = [:]
  ) async throws(DeliveryError) -> CoProcessAnswer.Facts {
    let id = state.withLock { state in
      state.lastRequest += 1
      return state.lastRequest
    }
    var text: JSONObjectText = ["id": id, "do": verb]
    text.add(members)
    let line = Array("\(text)\n".utf8)
    let answer = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        begin(id, line, continuation)
        if Task.isCancelled { cancel(id) }
      }
    } onCancel: {
      cancel(id)
    }
    return try answer.get()
  }

  /// Ends the process for good and waits: its input is closed, and after `endSeconds` it is killed. Waiting requests
  /// get the error `network`.
  func stop() async {
    let run = state.withLock { state in
      state.isStopped = true
      return state.run
    }
    guard let run else { return }
    run.closeInput()
    DispatchQueue.global().asyncAfter(deadline: .now() + program.endSeconds) { [weak run] in run?.kill(nil) }
    await run.waitForEnd()
  }

  // MARK: Requests

  private func begin(_ id: Int, _ line: [UInt8], _ continuation: CheckedContinuation<Answer, Never>) {
    let isTooMuch = state.withLock { state in
      guard state.requests.count < program.mostRequests else { return true }
      state.requests[id] = Request(continuation: continuation)
      return false
    }
    if isTooMuch {
      let sentence = "\(program.name) has \(program.mostRequests) requests to answer already"
      return continuation.resume(returning: .failure(DeliveryError(.localResources, sentence)))
    }
    sender.async { self.deliver(id, line) }
  }

  /// Gives a request to the running process or a new one.
  private func deliver(_ id: Int, _ line: [UInt8]) {
    do {
      var run: CoProcessRun?
      while run == nil {
        let (current, life) = try running()
        // It may have ended since.
        run = state.withLock { state in
          guard state.life == life, state.run != nil else { return nil }
          state.requests[id]?.life = life
          return current
        }
        guard state.withLock({ $0.requests[id] != nil }) else { return }
        if let run { limitPatience(id, run) }
      }
      // If this fails, its end answers the request.
      _ = run?.send(line)
    } catch {
      settle(id, .failure(error))
    }
  }

  private func limitPatience(_ id: Int, _ run: CoProcessRun) {
    DispatchQueue.global().asyncAfter(deadline: .now() + program.answerSeconds) { [weak self, weak run] in
      guard let self, let run, self.state.withLock({ $0.requests[id] != nil }) else { return }
      run.kill(.hung)
    }
  }

  private func cancel(_ id: Int) {
    settle(id, .failure(DeliveryError(.cancelled, "cancelled while \(program.name) was asked")))
  }

  private func settle(_ id: Int, _ answer: Answer) {
    let request = state.withLock { $0.requests.removeValue(forKey: id) }
    request?.continuation.resume(returning: answer)
  }

  // MARK: The process

  /// The running process; starts one if necessary.
  private func running() throws(DeliveryError) -> (CoProcessRun, life: Int) {
    let found: Result<(CoProcessRun, Int)?, DeliveryError> = state.withLock { state in
      if state.isStopped { return .failure(DeliveryError(.network, "\(program.name) was stopped")) }
      if let run = state.run { return .success((run, state.life)) }
      guard let failure = state.lastFailure, state.notBefore > .now() else { return .success(nil) }
      let rest = Double(state.notBefore.uptimeNanoseconds - DispatchTime.now().uptimeNanoseconds) / 1e9
      return .failure(DeliveryError(failure.cause, failure.sentence, retryAfter: max(0, rest)))
    }
    if let found = try found.get() { return found }
    let run = try CoProcessRun(program)
    let (life, isStopped) = state.withLock { state in
      state.life += 1
      state.run = run
      return (state.life, state.isStopped)
    }
    run.listen(program, log: log) { [weak self, weak run] line in
      if self?.heard(line) == false { run?.kill(.nonsense) }
    } end: { [weak self] fault, lastWords in
      self?.ended(life, fault, lastWords)
    }
    if isStopped { run.kill(nil) }
    return (run, life)
  }

  /// Takes an answer; false if it is invalid.
  private func heard(_ line: [UInt8]) -> Bool {
    guard let answer = CoProcessAnswer(line) else { return false }
    let wasAsked = state.withLock { state in
      guard answer.id > 0 && answer.id <= state.lastRequest else { return false }
      state.failures = 0
      return true
    }
    // A cancelled request has no caller.
    if wasAsked { settle(answer.id, answer.outcome) }
    return wasAsked
  }

  private func ended(_ life: Int, _ fault: CoProcessRun.Fault, _ lastWords: String) {
    let error = sentence(fault, lastWords)
    let broken = state.withLock { state in
      state.run = nil
      state.failures += 1
      state.notBefore = .now() + program.backoff(state.failures)
      state.lastFailure = error
      let broken = state.requests.filter { $0.value.life == life }
      for id in broken.keys { state.requests[id] = nil }
      return broken.values
    }
    for request in broken { request.continuation.resume(returning: .failure(error)) }
  }

  /// The error for waiting requests.
  private func sentence(_ fault: CoProcessRun.Fault, _ lastWords: String) -> DeliveryError {
    let words = lastWords.isEmpty ? "" : ": \(lastWords)"
    switch fault {
    case .hung:
      return DeliveryError(.network, "\(program.name) gave no answer in \(Int(program.answerSeconds)) s and was ended")
    case .nonsense:
      return DeliveryError(.network, "\(program.name) sent an invalid answer and was ended")
    case .ended(SIGKILL):
      // A killed process cannot explain itself.
      return DeliveryError(.network, "\(program.name) was killed")
    case .ended(let status) where status & 0x7f != 0:
      return DeliveryError(.network, "\(program.name) was ended by signal \(status & 0x7f)\(words)")
    case .ended(let status):
      let code = status >> 8 & 0xff
      // 2 is an interpreter's status for a missing script, 64 a program's for an unknown option.
      let cause = code == 2 || code == 64 ? Cause.configError : .network
      return DeliveryError(cause, "\(program.name) ended with status \(code)\(words)")
    }
  }
}
