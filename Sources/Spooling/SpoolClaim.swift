import DurableFiles
import Glibc

/// The claim on a spool: one daemon, or briefly a command instead.
extension Spool {
  /// Claims the spool with the kernel lock `state/daemon.lock`.
  ///
  /// - Parameter briefly: a command does a daemon's work.
  /// - Returns: nil if a daemon runs, or a command holds the lock for `patience` seconds.
  package func claim(briefly: Bool, patience: Double = 0) throws -> FileLock? {
    let lock = try FileLock("daemon.lock", in: state)
    var rest = patience
    while try !lock.tryAcquire() {
      // Only commands are worth waiting for.
      guard rest > 0, try lock.note().hasSuffix(Self.brief) else { return nil }
      usleep(20_000)
      rest -= 0.02
    }
    try lock.write(note: "\(getpid())\(briefly ? Self.brief : "\n")")
    return lock
  }

  private static let brief = " for a moment\n"
}
