import Children
import Foundation
import Glibc
import Synchronization

/// A script of `Tests/Support/python` that reads orders from standard input and answers on standard output, a line
/// each. It ends with its standard input: with this object or with the test's process. Foundation's `Process` is not
/// used: it overflows a buffer with more than a thousand open files.
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
    // A hanging script fails its test with a sentence; time limits cannot end a blocked thread.
    var patience = timeval(tv_sec: 300, tv_usec: 0)
    setsockopt(line, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  func write(_ order: Data) throws {
    var left = (order + Data("\n".utf8))[...]
    while !left.isEmpty {
      let count = left.withUnsafeBytes { send(line, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw ScriptEnded(script: script) }
      left = left.dropFirst(count)
    }
  }

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

/// The script ended before its answer; standard error has the reason.
struct ScriptEnded: Error {
  let script: String
}

struct ScriptSilent: Error {
  let script: String
}
