import DurableFiles
import Glibc
import Messages

/// The place in the order of arrival that `photospool send` writes at the front of a request's name.
///
/// The counter lies in `tmp/.order` and is only changed under its lock. It is the larger of the last number plus one
/// and the clock in microseconds: with the counter at hand no clock is needed, and when a power cut takes the counter,
/// the clock starts it behind all earlier numbers.
public enum ArrivalNumber {
  /// The counter's file in `tmp/`.
  public static let lockName = ".order"
  /// How long a client waits for a lock holder that was stopped before it relies on the clock alone, in seconds.
  static let lockPatience = 0.025

  private static let digits = 13

  static func next(after note: String) throws -> UInt64 {
    let last = UInt64(note.prefix { $0 != "\n" }) ?? 0
    // All of the spool's group can write there: behind the last number there is, the clock counts again.
    return last < .max ? max(last + 1, clock) : clock
  }

  /// The clock, in microseconds.
  static var clock: UInt64 { UInt64(max(0, Timestamp.now().milliseconds)) * 1000 }

  /// 13 digits of base 36 behind an `o`; enough for as long as microseconds fit 64 bits.
  static func prefix(_ order: UInt64) -> String {
    let text = String(order, radix: 36)
    return "o" + String(repeating: "0", count: digits - text.count) + text
  }

  /// Whether `name` starts with such a number.
  static func isNumbered(_ name: String) -> Bool {
    let bytes = name.utf8
    return bytes.first == UInt8(ascii: "o") && bytes.dropFirst(digits + 1).first == UInt8(ascii: "-")
      && UInt64(name.dropFirst().prefix(digits), radix: 36) != nil
  }
}

extension FileLock {
  /// Tries to take the lock for `seconds`; false when it stayed taken.
  func tryAcquire(within seconds: Double) throws(FileError) -> Bool {
    let attempts = max(1, Int(seconds * 1000))
    for _ in 0..<attempts {
      if try tryAcquire() { return true }
      usleep(1000)
    }
    return false
  }
}
