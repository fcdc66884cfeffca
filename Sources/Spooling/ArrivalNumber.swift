import DurableFiles
import Glibc
import Messages

/// The place in the order of arrival that `photospool send` writes at the front of a request's name.
///
/// The counter lies in `tmp/.order` and is only changed under its lock: a number, and below it the id of the boot in which it
/// was written. The next number is the larger of the last one plus one and the clock in microseconds, so that no clock is
/// needed. A power cut may take the counter, or bring an older one back; so the first that counts after each start of the
/// computer also looks at the numbers in `new/`. All that was accepted has its place already.
package enum ArrivalNumber {
  /// The counter's file in `tmp/`.
  package static let lockName = ".order"
  /// How long a client waits for a lock holder that was stopped before it relies on the clock alone, in seconds.
  static let lockPatience = 0.025

  private static let digits = 13

  /// - Parameters:
  ///   - note: what the counter's file holds; empty where it is lost, or cannot be locked.
  ///   - highest: the highest number in `new/`, which is asked only where the note is of another boot.
  static func next(after note: String, highest: () throws -> UInt64) throws -> UInt64 {
    let lines = note.split(separator: "\n")
    var last = lines.first.flatMap { UInt64($0) } ?? 0
    if lines.count < 2 || lines[1] != boot { last = max(last, try highest()) }
    // All of the spool's group can write there: behind the last number there is, the clock counts again.
    return last < .max ? max(last + 1, clock) : clock
  }

  /// What is written into the counter's file.
  static func note(_ order: UInt64) -> String { "\(order)\n\(boot)\n" }

  /// The id of this run of the kernel: random(4).
  private static let boot: String = {
    let bytes = try? File(reading: "/proc/sys/kernel/random/boot_id").bytes(from: 0, count: 64)
    return String(decoding: bytes ?? [], as: UTF8.self).filter { !$0.isWhitespace }
  }()

  /// The highest number of a request in `new/`; 0 where none has one.
  static func highest(in new: Directory) throws -> UInt64 {
    var highest: UInt64 = 0
    try new.forEachName { bytes in
      if let number = String(validating: bytes, as: UTF8.self).flatMap(number(in:)) { highest = max(highest, number) }
      return true
    }
    return highest
  }

  /// The clock, in microseconds.
  static var clock: UInt64 { UInt64(max(0, Timestamp.now().milliseconds)) * 1000 }

  /// 13 digits of base 36 behind an `o`; enough for as long as microseconds fit 64 bits.
  static func prefix(_ order: UInt64) -> String {
    let text = String(order, radix: 36)
    return "o" + String(repeating: "0", count: digits - text.count) + text
  }

  /// Whether `name` starts with such a number.
  static func isNumbered(_ name: String) -> Bool { number(in: name) != nil }

  private static func number(in name: String) -> UInt64? {
    let bytes = name.utf8
    guard bytes.first == UInt8(ascii: "o"), bytes.dropFirst(digits + 1).first == UInt8(ascii: "-") else { return nil }
    return UInt64(name.dropFirst().prefix(digits), radix: 36)
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
