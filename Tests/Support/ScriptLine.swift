import Children
import Foundation
import Glibc
import Synchronization

/// A script of `Tests/Support/python` that takes orders on its standard input and answers on its standard output, a line
/// each. It ends when its standard input does: with this object or with the test's process, whatever becomes of that.
///
/// Started by our own means: Foundation's `Process` reads past its buffer while more than a thousand files are open.
final class ScriptLine: Sendable {
  private let script: String
  private let process: pid_t
  private let line: Int32
  private let rest = Mutex(Data())

  init(_ script: String, _ arguments: [String]) throws {
    self.script = script
    let program = inherited([python, pythonScript(script)] + arguments)
    let (ours, theirs) = try program.line()
    defer { close(theirs) }
    do { process = try program.start([theirs, theirs, 2]) } catch {
      close(ours)
      throw error
    }
    line = ours
    // A script that hangs ends its test with a sentence; no time limit ends a thread that waits.
    var patience = timeval(tv_sec: 300, tv_usec: 0)
    setsockopt(line, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  /// Writes one line.
  func write(_ order: Data) throws {
    var left = (order + Data("\n".utf8))[...]
    while !left.isEmpty {
      let count = left.withUnsafeBytes { send(line, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw ScriptEnded(script: script) }
      left = left.dropFirst(count)
    }
  }

  /// The next line, waited for.
  func read() throws -> Data {
    try rest.withLock { rest in
      var piece = [UInt8](repeating: 0, count: 65_536)
      while true {
        if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          defer { rest = Data(rest[(end + 1)...]) }
          return Data(rest[..<end])
        }
        let count = recv(line, &piece, piece.count, 0)
        if count < 0, errno == EINTR { continue }
        if count < 0, errno == EAGAIN { throw ScriptSilent(script: script) }
        guard count > 0 else { throw ScriptEnded(script: script) }
        rest += piece[..<count]
      }
    }
  }

  deinit {
    close(line)
    let process = process
    DispatchQueue.global().async { _ = exitStatus(of: process) }
  }
}

/// A script has ended before it answered; it says why on standard error.
struct ScriptEnded: Error {
  let script: String
}

/// A script runs and does not answer.
struct ScriptSilent: Error {
  let script: String
}
