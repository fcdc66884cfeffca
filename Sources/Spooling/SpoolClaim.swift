import DurableFiles
import Glibc

/// Who works on a spool: one daemon, or for a moment a command in its place.
extension Spool {
  /// Takes the spool for the process's life, or for a while, under the kernel lock `state/daemon.lock`.
  ///
  /// - Parameter briefly: a command does in passing what a daemon would do.
  /// - Returns: nil when a daemon runs, or does not go away within `patience` seconds.
  package func claim(briefly: Bool, patience: Double = 0) throws -> FileLock? {
    let lock = try FileLock("daemon.lock", in: state)
    var rest = patience
    while try !lock.tryAcquire() {
      // Only a command is waited for: it will be through soon.
      guard rest > 0, try lock.note().hasSuffix(Self.brief) else { return nil }
      usleep(20_000)
      rest -= 0.02
    }
    try lock.write(note: "\(getpid())\(briefly ? Self.brief : "\n")")
    return lock
  }

  private static let brief = " for a moment\n"
}
