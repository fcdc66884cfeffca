import Dispatch
import Glibc
import Messages
import Synchronization

/// A program that is kept running beside the daemon and asked over its standard input: one JSON object a line each way,
/// requests numbered, many under way at a time, answers in any order.
///
/// It is started with the first request. One that dies, hangs or answers nonsense is replaced with the next request,
/// after a while when it keeps on dying; whoever waits for an answer is told that the connection broke, and may ask
/// again. What the answers say is not trusted: lines are bounded, and everything that is not expected ends the process.
final class CoProcess: Sendable {
  private typealias Answer = Result<CoProcessAnswer.Facts, DeliveryError>

  private struct Request {
    let continuation: CheckedContinuation<Answer, Never>
    /// The life of the process in which it was asked; nil while it was not.
    var life: Int?
  }

  private struct State {
    var run: CoProcessRun?
    /// The number of `run`, counted from the first start.
    var life = 0
    var lastRequest = 0
    var requests: [Int: Request] = [:]
    /// Ends in a row without a single answer.
    var failures = 0
    var notBefore = DispatchTime(uptimeNanoseconds: 0)
    /// Why it is not started before that.
    var lastFailure: DeliveryError?
    var isStopped = false
  }

  private let program: CoProcessProgram
  private let log: @Sendable (String) -> Void
  private let state = Mutex(State())
  /// Starts the process and writes requests, both of which may take a while, in the order in which they came.
  private let sender: DispatchQueue

  /// - Parameter log: is given what the process says on standard error, line by line, escaped and bounded.
  init(_ program: CoProcessProgram, log: @escaping @Sendable (String) -> Void) {
    self.program = program
    self.log = log
    sender = DispatchQueue(label: "\(program.name) requests")
  }

  /// The process that runs now.
  var processID: Int32? { state.withLock { $0.run }?.processID }

  deinit { state.withLock { $0.run }?.kill(nil) }

  /// Asks for `verb`, with the members that `fill` adds, and waits for the answer.
  ///
  /// - Throws: what the program answers; `network` when it ended before it answered, in which case nobody knows whether
  ///   it did what it was asked for; `config_error` when it cannot be started; `cancelled` when the task was.
  func ask(
    _ verb: String, _ fill: (inout JSONObjectText) -> Void = { _ in }
  ) async throws(DeliveryError) -> CoProcessAnswer.Facts {
    let id = state.withLock { state in
      state.lastRequest += 1
      return state.lastRequest
    }
    var text = JSONObjectText()
    text.add("id", id)
    text.add("do", verb)
    fill(&text)
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

  /// Ends the process for good, in order if it can: its input is closed, and after `endSeconds` it is killed. When this
  /// returns, there is none any more. Requests under way are told that the connection broke.
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

  /// Gives a request to the process that runs, or to a new one.
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
      // One that does not take it has ended, and its end answers the request.
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

  /// The process that runs, started if there is none.
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

  /// Takes an answer; false when it is none.
  private func heard(_ line: [UInt8]) -> Bool {
    guard let answer = CoProcessAnswer(line) else { return false }
    let wasAsked = state.withLock { state in
      guard answer.id > 0 && answer.id <= state.lastRequest else { return false }
      state.failures = 0
      return true
    }
    // Nobody may wait for it any more: it was cancelled.
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

  /// What is said to whoever waited for an answer.
  private func sentence(_ fault: CoProcessRun.Fault, _ lastWords: String) -> DeliveryError {
    let words = lastWords.isEmpty ? "" : ": \(lastWords)"
    switch fault {
    case .hung:
      return DeliveryError(.network, "\(program.name) gave no answer in \(Int(program.answerSeconds)) s and was ended")
    case .nonsense:
      return DeliveryError(.network, "\(program.name) answered what is no answer and was ended")
    case .ended(SIGKILL):
      // Whoever did that, it could not say a word about it.
      return DeliveryError(.network, "\(program.name) was killed")
    case .ended(let status) where status & 0x7f != 0:
      return DeliveryError(.network, "\(program.name) was ended by signal \(status & 0x7f)\(words)")
    case .ended(let status):
      let code = status >> 8 & 0xff
      // What an interpreter says of a script that is not there, and a program of options that it does not know.
      let cause = code == 2 || code == 64 ? Cause.configError : .network
      return DeliveryError(cause, "\(program.name) ended with status \(code)\(words)")
    }
  }
}
