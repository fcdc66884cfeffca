import CKernel
import Children
import Glibc
import Messages
import Photos

/// One process that decodes photos, locked in by itself, and the line to it.
///
/// Used by one thread at a time, but for `end`, which may come from anywhere.
final class DarkroomProcess: Sendable {
  /// How an order came out.
  enum Outcome {
    case answered(Result<PreparedPhoto, DeliveryError>)
    /// There is no answer, and no process any more.
    case died(Death)
    /// The process had ended before it was given the photo.
    case wasGone
  }

  private let socket: Int32
  private let leash: ChildLeash

  /// Pages of 2 MB for what is large, where the kernel gives them to those that ask: what is decoded lies in fresh
  /// memory, photo after photo, and half a tenth of all time went into pages of 4 kB. (glibc's manual, "Memory
  /// Allocation Tunables".)
  private static let environment = ["GLIBC_TUNABLES=glibc.malloc.hugetlb=1"]

  /// Starts a process.
  ///
  /// - Parameters:
  ///   - program: the path of photospool-darkroom.
  ///   - memory: bytes that it may map beyond what it starts with.
  /// - Throws: `config_error` when there is no such program; `local_resources` when the kernel has no room for it.
  init(program: String, memory: Int) throws(DeliveryError) {
    let program = ChildProgram(path: program, arguments: ["serve", "\(memory)"], environment: Self.environment)
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
    // An honest one ends when its socket closes; one that was taken over may not.
    end()
    close(socket)
    leash.wait()
  }

  /// Has a photo prepared, and waits for it.
  ///
  /// - Parameter seconds: of processor time that it may take; three times as long by the clock.
  func prepare(_ photo: PhotoBytes, limits: PhotoLimits, seconds: Int) -> Outcome {
    let order = DarkroomOrder(limits: limits).encoded
    guard let pid = leash.processID, ckernel_limit_processor_time(pid, UInt64(max(1, seconds))) == 0,
      ckernel_send_file(socket, order, order.count, photo.descriptor) == order.count
    else {
      _ = bury(.crashed)
      return .wasGone
    }
    let line = AnswerLine(socket: socket, seconds: 3 * seconds)
    switch line.receive(limit: DarkroomAnswer.limit(limits)) {
    case .success(let bytes):
      guard let answer = DarkroomAnswer(encoded: bytes, limits: limits) else { return bury(.nonsense) }
      return .answered(answer.result)
    case .failure(let death):
      return bury(death)
    }
  }

  /// Ends it at once, whatever it does.
  func end() { leash.pull(SIGKILL) }

  /// Ends a process that is of no use any more, if it has not ended by itself, and says what it died of.
  private func bury(_ suspected: Death) -> Outcome {
    end()
    // The processor limit speaks for itself; all else is as it looked from here.
    return .died(leash.wait() & 0x7F == SIGXCPU ? .tooSlow : suspected)
  }
}
