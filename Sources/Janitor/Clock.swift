import Glibc
import Messages
import Spooling

/// Whether the wall clock can be trusted: after a jump, new files may look old. The clock since boot does not jump.
/// Within one boot both clocks must have advanced by the same time since the last run. Otherwise this run deletes
/// nothing by age, and the next one trusts the new time.
package struct JanitorClock: Sendable {
  package let now: Timestamp
  /// Seconds since boot, sleep included.
  package let sinceBoot: Double
  /// The id of the boot.
  package let boot: String

  /// The tolerated difference in seconds, for small corrections by people or time servers.
  private static let tolerance = 600.0

  /// After a boot, a time more than `longestPause` after the last run is trusted only once the computer has been on for
  /// `trial` seconds. Without a battery, the clock may be years ahead until a time server sets it.
  private static let (longestPause, trial) = (7 * 86_400.0, 3600.0)

  package static func current() -> JanitorClock {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return JanitorClock(
      now: .now(), sinceBoot: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9, boot: ArrivalNumber.boot)
  }

  /// The seconds by which the wall clock has jumped since the run that left `notes`; nil if it has not.
  func jump(since notes: [String: String]) -> Double? {
    guard let then = notes["wall"].flatMap(Int64.init), let up = notes["up"].flatMap(Double.init) else { return nil }
    guard isSameRun(as: notes) else {
      let gap = now.seconds(since: Timestamp(milliseconds: then))
      return abs(gap) > Self.longestPause && sinceBoot < Self.trial ? gap : nil
    }
    let jump = now.seconds(since: Timestamp(milliseconds: then)) - (sinceBoot - up)
    return abs(jump) > Self.tolerance ? jump : nil
  }

  /// Whether the computer has not been rebooted since the run that left `notes`.
  func isSameRun(as notes: [String: String]) -> Bool { notes["boot"] == boot }

  var notes: [String: String] {
    ["boot": boot, "wall": "\(now.milliseconds)", "up": "\(sinceBoot)"]
  }

  /// Whether something last changed at `changed`, in nanoseconds since 1970, has been unchanged for `seconds`.
  func isOlder(_ changed: Int64, than seconds: Double) -> Bool {
    Double(now.milliseconds) / 1e3 - Double(changed) / 1e9 > seconds
  }
}
