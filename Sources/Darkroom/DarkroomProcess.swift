import CKernel
import Glibc
import Messages
import Photos
import Synchronization

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
  /// nil once it was waited for: from then on the number may be another's.
  private let child: Mutex<pid_t?>

  /// Starts a process.
  ///
  /// - Parameters:
  ///   - program: the path of photospool-darkroom.
  ///   - memory: bytes that it may map beyond what it starts with.
  /// - Throws: `config_error` when there is no such program; `local_resources` when the kernel has no room for it.
  init(program: String, memory: Int) throws(DeliveryError) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw Self.failure(errno, program)
    }
    defer { close(ends[1]) }
    var pid: pid_t = 0
    let error = Self.spawn(program, ["serve", "\(memory)"], socket: ends[1], &pid)
    guard error == 0 else {
      close(ends[0])
      throw Self.failure(error, program)
    }
    socket = ends[0]
    child = Mutex(pid)
  }

  deinit {
    // An honest one ends when its socket closes; one that was taken over may not.
    end()
    close(socket)
    _ = wait()
  }

  /// Has a photo prepared, and waits for it.
  ///
  /// - Parameter seconds: of processor time that it may take; three times as long by the clock.
  func prepare(_ photo: PhotoBytes, limits: PhotoLimits, seconds: Int) -> Outcome {
    let order = DarkroomOrder(limits: limits).encoded
    guard let pid = child.withLock({ $0 }), ckernel_limit_processor_time(pid, UInt64(max(1, seconds))) == 0,
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
  func end() {
    child.withLock { pid in
      if let pid { _ = kill(pid, SIGKILL) }
    }
  }

  /// Ends a process that is of no use any more, if it has not ended by itself, and says what it died of.
  private func bury(_ suspected: Death) -> Outcome {
    end()
    // The processor limit speaks for itself; all else is as it looked from here.
    return .died(wait() == SIGXCPU ? .tooSlow : suspected)
  }

  /// The signal that ended it, or 0.
  private func wait() -> Int32 {
    guard let pid = child.withLock({ $0 }) else { return 0 }
    var information = siginfo_t()
    while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
    // Its number is given back only while nobody can be about to signal it.
    return child.withLock { child in
      var status: Int32 = 0
      waitpid(pid, &status, WNOHANG)
      child = nil
      return status & 0x7F
    }
  }

  /// With nothing to read or write but its socket, nothing in its environment, and signals as they are by default.
  private static func spawn(_ program: String, _ arguments: [String], socket: Int32, _ pid: inout pid_t) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0)
    posix_spawn_file_actions_adddup2(&actions, 0, 1)
    posix_spawn_file_actions_adddup2(&actions, 0, 2)
    posix_spawn_file_actions_adddup2(&actions, socket, 3)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    // In a group of its own, so that a terminal's interrupt ends the program first, and it thereafter.
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
    var argv = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for argument in argv { free(argument) } }
    var environment: [UnsafeMutablePointer<CChar>?] = [nil]
    return posix_spawn(&pid, program, &actions, &attributes, &argv, &environment)
  }

  private static func failure(_ error: Int32, _ program: String) -> DeliveryError {
    let words = String(cString: strerror(error))
    return [ENOENT, EACCES, ENOEXEC, ENOTDIR].contains(error)
      ? DeliveryError(.configError, "\(program) cannot be started: \(words); install photospool again")
      : DeliveryError(.localResources, "there is no room for another process: \(words)")
  }
}
