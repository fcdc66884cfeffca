/// Whether the sync of a whole file system takes less time than the syncs of some small things on it: what is known of how
/// fast its disk writes, learned from the syncs themselves. Bytes are those of all the machine that wait for a disk.
struct SyncPace {
  /// Bytes a second that were written lately; before anything is known of the disk, what an old one can do.
  private(set) var speed = 128_000_000.0
  /// Bytes that a quick sync has left, since they wait for other disks.
  private var elsewhere = 0

  /// From how many requests on it is worth it, in place of a sync or more for each.
  static let crowd = 16
  /// Seconds that it takes to sync one by itself, about: a few syncs, some of them at the same time as those of others.
  private static let oneByItself = 0.002
  /// Seconds that nobody minds, and in which nobody else can have written much to the same disk.
  private static let moment = 0.1
  /// Seconds that a sync may take for which nobody waits: a process cannot end meanwhile.
  private static let longest = 5.0
  /// Less than so many bytes say nothing of how fast the disk is.
  private static let telling = 8_000_000
  /// No disk is slower or faster than that, whatever a single sync seems to say.
  private static let speeds = 5_000_000.0...2_000_000_000.0

  /// So much waits now: what waited elsewhere may have been written since.
  mutating func look(at waiting: Int) { elsewhere = min(elsewhere, waiting) }

  func isQuick(for count: Int, waiting: Int) -> Bool {
    count >= Self.crowd && seconds(for: waiting) <= max(Double(count) * Self.oneByItself, Self.moment)
  }

  /// Whether what waits is little enough to be written in one go, while nobody waits for it.
  func canCatchUp(waiting: Int) -> Bool {
    seconds(for: waiting) <= Self.longest || waiting - elsewhere <= 2 * Self.telling
  }

  private func seconds(for waiting: Int) -> Double { Double(waiting - elsewhere) / speed }

  /// A sync has taken so many seconds.
  mutating func learn(before: Int, after: Int, seconds: Double) {
    elsewhere = seconds <= Self.moment ? after : 0
    guard before - after >= Self.telling else { return }
    let latest = min(max(Double(before - after) / max(seconds, 0.001), Self.speeds.lowerBound), Self.speeds.upperBound)
    // The mean of the times, so that a slow one weighs more than a fast one.
    speed = 2 / (1 / speed + 1 / latest)
  }
}
