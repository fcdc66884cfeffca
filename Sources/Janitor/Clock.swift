import Glibc
import Ledgers
import Messages

/// Whether the wall clock can be believed: what is old by a clock that has just jumped is perhaps new.
///
/// The clock that counts since the computer was started does not jump. Within one run of the computer both have to have
/// gone on by the same time since the last pass; if they have not, nothing is deleted by its age in this pass, and the
/// next one takes the new time for the right one.
package struct JanitorClock: Sendable {
  package let now: Timestamp
  /// Seconds since the computer was started, sleep included.
  package let sinceBoot: Double
  /// Which run of the computer it is.
  package let boot: String

  /// Seconds that the clocks may differ by: somebody, or a time server, has set the clock a little.
  private static let tolerance = 600.0

  /// After a start of the computer, a time that differs more than that from the last pass's is believed once the computer has
  /// been on for `trial`: a clock without a battery may be years ahead until a time server has set it.
  private static let (longestPause, trial) = (7 * 86_400.0, 3600.0)

  package init(now: Timestamp, sinceBoot: Double, boot: String) {
    self.now = now
    self.sinceBoot = sinceBoot
    self.boot = boot
  }

  /// The computer's clocks.
  package static func current() -> JanitorClock {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    var boot = ""
    if let file = fopen("/proc/sys/kernel/random/boot_id", "r") {
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = fread(&bytes, 1, bytes.count, file)
      fclose(file)
      boot = String(decoding: bytes.prefix(count).prefix { $0 > 32 }, as: UTF8.self)
    }
    return JanitorClock(
      now: .now(), sinceBoot: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9, boot: boot)
  }

  /// By how many seconds the wall clock has jumped since the pass that left `notes`; nil when it has not.
  func jump(since notes: [String: String]) -> Double? {
    guard let then = notes["wall"].flatMap(Int64.init), let up = notes["up"].flatMap(Double.init) else { return nil }
    guard isSameRun(as: notes) else {
      let gap = now.seconds(since: Timestamp(milliseconds: then))
      return abs(gap) > Self.longestPause && sinceBoot < Self.trial ? gap : nil
    }
    let jump = now.seconds(since: Timestamp(milliseconds: then)) - (sinceBoot - up)
    return abs(jump) > Self.tolerance ? jump : nil
  }

  /// Whether the computer has not been started since the pass that left `notes`.
  func isSameRun(as notes: [String: String]) -> Bool { notes["boot"] == boot }

  var notes: [String: String] {
    ["boot": boot, "wall": "\(now.milliseconds)", "up": "\(sinceBoot)"]
  }

  /// Whether something that last changed at `changed`, in nanoseconds since 1970, has been left alone for `seconds`.
  func isOlder(_ changed: Int64, than seconds: Double) -> Bool {
    Double(now.milliseconds) / 1e3 - Double(changed) / 1e9 > seconds
  }
}
