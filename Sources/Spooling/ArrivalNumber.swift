import DurableFiles
import Glibc
import Messages

/// The place in the order of arrival, which `photospool send` puts at the front of a request's name.
///
/// The counter is the file `tmp/.order`, changed only under its lock: a number, and the id of the boot that wrote it.
/// The next number is the larger of the last one plus one and the clock in microseconds. A power cut may lose the
/// counter or restore an older one, so the first `send` after each boot also reads the numbers in `new/`. Accepted
/// requests already have their place.
package enum ArrivalNumber {
  /// The counter's file in `tmp/`.
  package static let lockName = ".order"
  /// The longest wait for a lock holder that was stopped, in seconds. After that the clock alone decides.
  static let lockPatience = 0.025

  private static let digits = 13

  /// - Parameters:
  ///   - note: the contents of the counter's file; empty if it is lost or cannot be locked.
  ///   - highest: the highest number in `new/`; called only if the note is of another boot.
  static func next(after note: String, highest: () throws -> UInt64) throws -> UInt64 {
    let lines = note.split(separator: "\n")
    var last = lines.first.flatMap { UInt64($0) } ?? 0
    if lines.count < 2 || lines[1] != boot { last = max(last, try highest()) }
    // Everybody in the group can write the largest number; the clock counts after it.
    return last < .max ? max(last + 1, clock) : clock
  }

  static func note(_ order: UInt64) -> String { "\(order)\n\(boot)\n" }

  /// The id of this boot: random(4).
  package static let boot: String = {
    let bytes = try? File(reading: "/proc/sys/kernel/random/boot_id").bytes(from: 0, count: 64)
    return String(decoding: bytes ?? [], as: UTF8.self).filter { !$0.isWhitespace }
  }()

  /// The highest number of a request in `new/`; 0 if there is none.
  static func highest(in new: Directory) throws -> UInt64 {
    var highest: UInt64 = 0
    try new.forEachName { bytes in
      if let number = String(validating: bytes, as: UTF8.self).flatMap(number(in:)) { highest = max(highest, number) }
      return true
    }
    return highest
  }

  /// The clock in microseconds.
  static var clock: UInt64 { UInt64(max(0, Timestamp.now().milliseconds)) * 1000 }

  /// An `o` and 13 digits of base 36, enough for 64 bits of microseconds.
  static func prefix(_ order: UInt64) -> String {
    let text = String(order, radix: 36)
    return "o" + String(repeating: "0", count: digits - text.count) + text
  }

  static func isNumbered(_ name: String) -> Bool { number(in: name) != nil }

  private static func number(in name: String) -> UInt64? {
    let bytes = name.utf8
    guard bytes.first == UInt8(ascii: "o"), bytes.dropFirst(digits + 1).first == UInt8(ascii: "-") else { return nil }
    return UInt64(name.dropFirst().prefix(digits), radix: 36)
  }
}

extension FileLock {
  /// Tries to take the lock for `seconds`; false if it stayed taken.
  func tryAcquire(within seconds: Double) throws(FileError) -> Bool {
    let attempts = max(1, Int(seconds * 1000))
    for _ in 0..<attempts {
      if try tryAcquire() { return true }
      usleep(1000)
    }
    return false
  }
}
