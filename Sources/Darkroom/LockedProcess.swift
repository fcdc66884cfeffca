import CKernel
import Children
import Glibc
import Messages

/// A process of `photospool-darkroom` in its sandbox, and the socket to it. One thread uses it at a time, except for
/// `end`.
final class LockedProcess: Sendable {
  private let socket: Int32
  private let leash: ChildLeash

  /// Pages of 2 MB for large allocations, if the kernel gives them on request: 4 kB pages for fresh memory took a
  /// twentieth of all time. (glibc's manual, "Memory Allocation Tunables".)
  private static let environment = ["GLIBC_TUNABLES=glibc.malloc.hugetlb=1"]

  /// Starts a process.
  ///
  /// - Parameters:
  ///   - program: the path of photospool-darkroom.
  ///   - word: what it serves.
  ///   - memory: bytes that it may map beyond its initial ones.
  /// - Throws: `config_error` if there is no such program; `local_resources` if the kernel cannot start it.
  init(program: String, _ word: String, memory: Int) throws(DeliveryError) {
    let program = ChildProgram(path: program, arguments: [word, "\(memory)"], environment: Self.environment)
    let line = try program.line()
    defer { close(line.theirs) }
    let pid: pid_t
    do { pid = try program.start([nil, nil, nil, line.theirs]) } catch {
      close(line.ours)
      throw error
    }
    socket = line.ours
    leash = ChildLeash(pid)
  }

  deinit {
    // A compromised process may not end when its socket closes.
    end()
    close(socket)
    leash.wait()
  }

  /// Sends an order with a file, and waits for the answer.
  ///
  /// - Parameters:
  ///   - limit: the size limit of the answer.
  ///   - seconds: the processor time; the elapsed time may be three times as long.
  /// - Returns: the answer, or the end of the process; nil if it had ended before it got the order.
  func ask(_ order: [UInt8], file: Int32, limit: Int, seconds: Int) -> Result<[UInt8], Death>? {
    guard let pid = leash.processID, ckernel_limit_processor_time(pid, UInt64(max(1, seconds))) == 0,
      ckernel_send_file(socket, order, order.count, file) == order.count
    else {
      _ = bury(.crashed)
      return nil
    }
    return AnswerLine(socket: socket, seconds: 3 * seconds).receive(limit: limit).mapError(bury)
  }

  /// Kills it.
  func end() { leash.pull(SIGKILL) }

  /// Ends a useless process, if it still runs, and returns the reason.
  func bury(_ suspected: Death) -> Death {
    end()
    // The status shows the processor limit; otherwise the suspicion counts.
    return leash.wait() & 0x7F == SIGXCPU ? .tooSlow : suspected
  }
}
