import Glibc

/// Keeps the current input if it kills the process or takes too long. One thread writes the state; the signal handler
/// only reads it while that thread stands still.
enum Watch {
  nonisolated(unsafe) private static var input: UnsafeMutablePointer<UInt8>?
  nonisolated(unsafe) private static var count = 0
  nonisolated(unsafe) private static var path: UnsafeMutablePointer<CChar>?
  /// The processor time of the slowest input so far, in seconds.
  nonisolated(unsafe) private(set) static var slowest = 0.0

  /// The limits for the inputs of a parser.
  struct Limits: Sendable {
    /// Processor seconds per input.
    let seconds: Int
    /// The memory of the process in bytes.
    let memory: rlim_t

    static let standard = Limits(seconds: 10, memory: 1 << 30)
  }

  /// - Parameter path: the file for an input that kills the process.
  static func begin(keeping path: String) {
    self.path = strdup(path)
    var core = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &core)
    for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGPROF] {
      signal(number) { number in
        Watch.keep()
        signal(number, SIG_DFL)
        raise(number)
      }
    }
  }

  /// Limits the memory of all inputs that follow, and forgets the slowest one.
  static func limit(_ limits: Limits) {
    slowest = 0
    var limit = rlimit(rlim_cur: limits.memory, rlim_max: rlim_t.max)
    setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit)
  }

  static func over(
    _ bytes: [UInt8], _ limits: Limits, _ body: ([UInt8]) throws(BrokenProperty) -> Void
  ) throws(BrokenProperty) {
    let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, bytes.count))
    for (index, byte) in bytes.enumerated() { copy[index] = byte }
    (input, count) = (copy, bytes.count)
    let begin = processorSeconds()
    alarm(in: limits.seconds)
    defer {
      alarm(in: 0)
      slowest = max(slowest, processorSeconds() - begin)
      (input, count) = (nil, 0)
      copy.deallocate()
    }
    try body(bytes)
  }

  /// Writes the current input into its file, with calls that a signal handler may make.
  static func keep() {
    guard let input, let path else { return }
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    _ = write(file, input, count)
    close(file)
  }

  /// The most memory that the process had so far, in bytes.
  static var peak: Int {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_maxrss << 10
  }

  private static func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Processor time, so that a busy machine does not matter.
  private static func alarm(in seconds: Int) {
    var timer = itimerval()
    timer.it_value.tv_sec = seconds
    setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
  }
}
