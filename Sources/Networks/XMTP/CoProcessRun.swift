import CKernel
import Children
import Dispatch
import Glibc
import Messages
import Synchronization

/// A running co-process: a process group, a socket for input and output, and one for standard error. Sockets instead of
/// pipes, because a shutdown ends a blocked read or write even if others hold them, and writing to a closed one raises
/// no SIGPIPE.
final class CoProcessRun: Sendable {
  /// Why it ended or was ended.
  enum Fault: Equatable {
    case hung
    case nonsense
    /// With the status of `waitpid`.
    case ended(Int32)
  }

  private struct Ending {
    var fault: Fault?
    /// Its last line on standard error.
    var lastWords = ""
    var isOver = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let socket: Int32
  private let errors: Int32
  private let leash: ChildLeash
  private let ending = Mutex(Ending())

  /// - Throws: `config_error` if there is no such program; `local_resources` if the kernel cannot start it.
  init(_ program: CoProcessProgram) throws(DeliveryError) {
    let child = ChildProgram(path: program.path, arguments: program.arguments, environment: program.environment)
    let talk = try child.line()
    defer { close(talk.theirs) }
    let words: (ours: Int32, theirs: Int32)
    do { words = try child.line() } catch {
      close(talk.ours)
      throw error
    }
    defer { close(words.theirs) }
    let pid: pid_t
    do { pid = try child.start([talk.theirs, talk.theirs, words.theirs]) } catch {
      for end in [talk.ours, words.ours] { close(end) }
      throw error
    }
    (socket, errors) = (talk.ours, words.ours)
    leash = ChildLeash(pid)
  }

  deinit {
    close(socket)
    close(errors)
  }

  /// nil after its end.
  var processID: pid_t? { leash.processID }

  /// Reads on threads of its own until the process has ended.
  ///
  /// - Parameters:
  ///   - line: called with every line. Anything else ends the process.
  ///   - end: called once with the reason and its last line.
  func listen(
    _ program: CoProcessProgram, log: @escaping @Sendable (String) -> Void,
    line: @escaping @Sendable ([UInt8]) -> Void, end: @escaping @Sendable (Fault, String) -> Void
  ) {
    let said = DispatchGroup()
    DispatchQueue(label: "\(program.name) errors").async(group: said) { [self] in
      var log = CoProcessLog(log)
      Self.read(errors, limit: 4096) { log.add($0) }
      ending.withLock { $0.lastWords = log.lastWords }
    }
    DispatchQueue(label: "\(program.name) answers").async { [self] in
      Self.read(socket, limit: program.longestAnswer) { piece in
        if case .whole(let bytes) = piece { line(bytes) } else { kill(.nonsense) }
      }
      let status = bury()
      // Its output is still read, even if a child holds the other end.
      shutdown(errors, Int32(SHUT_RD))
      said.wait()
      let (fault, lastWords) = ending.withLock { ($0.fault ?? .ended(status), $0.lastWords) }
      end(fault, lastWords)
      let waiting = ending.withLock { ending in
        ending.isOver = true
        defer { ending.waiting = [] }
        return ending.waiting
      }
      for continuation in waiting { continuation.resume() }
    }
  }

  /// Writes a line, and waits until the process takes it; false if it is gone.
  func send(_ line: [UInt8]) -> Bool { ckernel_send_all(socket, line, line.count) }

  /// Asks the process to end, by closing its input.
  func closeInput() { shutdown(socket, Int32(SHUT_WR)) }

  /// Kills it with all its children.
  func kill(_ fault: Fault?) {
    if let fault { ending.withLock { $0.fault = $0.fault ?? fault } }
    leash.pull(SIGKILL)
    shutdown(socket, Int32(SHUT_RDWR))
  }

  func waitForEnd() async {
    await withCheckedContinuation { continuation in
      let isOver = ending.withLock { ending in
        if !ending.isOver { ending.waiting.append(continuation) }
        return ending.isOver
      }
      if isOver { continuation.resume() }
    }
  }

  /// Ends a process that has closed its output. One that was about to end keeps its status.
  private func bury() -> Int32 {
    leash.pull(SIGKILL)
    return leash.wait()
  }

  /// Reads until the other end is closed or the socket shut down.
  private static func read(_ socket: Int32, limit: Int, _ each: (LineCutter.Line) -> Void) {
    var cutter = LineCutter(limit: limit)
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = recv(socket, &piece, piece.count, 0)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return }
      for line in cutter.add(piece[..<count]) { each(line) }
    }
  }
}
