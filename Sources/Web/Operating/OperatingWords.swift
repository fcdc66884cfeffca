import Foundation
import Messages

extension LocalTime {
  /// `10:02:11` today, else `Mon 10:02` or `3 Mar 10:02`.
  func exact(_ time: Timestamp) -> String {
    isSameDay(time, now) ? time.local("%H:%M:%S") : "\(short(time)) \(self.time(time))"
  }

  /// The age of a time, or the time until it, in its largest unit: `41 min`.
  func distance(_ time: Timestamp) -> String { Self.words(abs(now.seconds(since: time))) }

  /// `250 ms`, `2.1 s`, `41 min`, `3 h` or `2 days`.
  static func words(_ seconds: Double) -> String {
    switch seconds {
    case ..<0.9995: "\(Int((max(0, seconds) * 1000).rounded())) ms"
    case ..<9.95: "\(Int((seconds * 10).rounded()) / 10).\(Int((seconds * 10).rounded()) % 10) s"
    case ..<119.5: "\(Int(seconds.rounded())) s"
    case ..<7_170: "\(Int((seconds / 60).rounded())) min"
    case ..<172_800: "\(Int((seconds / 3600).rounded())) h"
    default: "\(Int((seconds / 86_400).rounded())) days"
    }
  }
}

/// A number for people: `12,345`.
func grouped(_ number: Int) -> String {
  var digits = Array(String(number.magnitude))
  for place in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: place) }
  return (number < 0 ? "-" : "") + String(digits)
}

/// A sentence with its end.
func sentence(_ text: String) -> String {
  guard let last = text.last, !".!?".contains(last) else { return shown(text) }
  return shown(text) + "."
}
