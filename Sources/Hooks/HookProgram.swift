import CKernel
import Children
import Glibc
import Messages

/// A program that is told of one event: one line of JSON on its standard input. What it writes goes nowhere.
///
/// It gets nothing of this process but that: no descriptor, no lock, no variable of the environment but `PATH` and `LANG`.
struct HookProgram: Sendable {
  let path: String

  /// How it ended.
  enum End: Sendable, Equatable {
    case exited(Int32)
    case killed(by: Int32)
    /// It could not be started; why.
    case absent(String)
  }

  private static let environment = ["PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"]

  /// Runs it to its end, which `leash` can bring about. What it has started ends with it. Blocks.
  func run(_ line: [UInt8], on leash: HookLeash) -> End {
    // Not a pipe, which a program that does not read would block or break.
    let input = ckernel_memory_file("event")
    guard input >= 0, Self.fill(input, with: line) else {
      if input >= 0 { close(input) }
      return .absent("there is no memory for what it is told")
    }
    let pid: pid_t
    do {
      pid = try ChildProgram(path: path, environment: Self.environment).start([input, nil, nil])
    } catch {
      close(input)
      return .absent(error.sentence)
    }
    close(input)
    leash.attach(to: pid)
    var information = siginfo_t()
    while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
    let status = leash.detach()
    return status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(by: status & 0x7F)
  }

  private static func fill(_ file: Int32, with bytes: [UInt8]) -> Bool {
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
      guard count > 0 || errno == EINTR else { return false }
      written += max(count, 0)
    }
    return lseek(file, 0, SEEK_SET) == 0
  }
}
