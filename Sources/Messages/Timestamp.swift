import FoundationEssentials
import Glibc

/// A wall-clock time in milliseconds since 1970-01-01T00:00:00Z.
package struct Timestamp: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let milliseconds: Int64

  package init(milliseconds: Int64) { self.milliseconds = milliseconds }

  package static func now() -> Timestamp {
    Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
  }

  /// RFC 3339 in UTC with milliseconds: `2026-02-28T12:00:00.250Z`. It reads back as the same time.
  package var description: String {
    let (seconds, fraction) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    var whole = time_t(fraction < 0 ? seconds - 1 : seconds)
    var date = tm()
    gmtime_r(&whole, &date)
    // Every log line has one; formatting with strings took twenty times as long.
    var text = [UInt8]()
    text.reserveCapacity(24)
    func add(_ number: Int, _ width: Int, _ end: Unicode.Scalar) {
      let start = text.count
      var rest = number.magnitude
      while rest > 0 || text.count < start + width {
        text.append(UInt8(ascii: "0") + UInt8(rest % 10))
        rest /= 10
      }
      text[start...].reverse()
      text.append(UInt8(ascii: end))
    }
    add(Int(date.tm_year) + 1900, 4, "-")
    add(Int(date.tm_mon) + 1, 2, "-")
    add(Int(date.tm_mday), 2, "T")
    add(Int(date.tm_hour), 2, ":")
    add(Int(date.tm_min), 2, ":")
    add(Int(date.tm_sec), 2, ".")
    add(Int(fraction < 0 ? fraction + 1000 : fraction), 3, "Z")
    return String(decoding: text, as: UTF8.self)
  }

  package static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

  package func advanced(seconds: Double) -> Timestamp {
    Timestamp(milliseconds: milliseconds + Int64((seconds * 1000).rounded()))
  }

  /// Seconds since `earlier`; negative if the clock was set back between them.
  package func seconds(since earlier: Timestamp) -> Double {
    Double(milliseconds - earlier.milliseconds) / 1000
  }

  /// In the time zone of this computer.
  package var localParts: tm {
    var seconds = time_t(milliseconds / 1000)
    var parts = tm()
    localtime_r(&seconds, &parts)
    return parts
  }

  /// In the time zone of this computer, in a format of `strftime`.
  package func local(_ format: String) -> String {
    var parts = localParts
    var text = [CChar](repeating: 0, count: 64)
    let count = strftime(&text, text.count, format, &parts)
    return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Reads the output of `description`; nil for anything else.
  package init?(_ text: String) {
    let parts = text.split(separator: ".")
    guard parts.count == 2, parts[1].count == 4, let fraction = Int64(parts[1].dropLast()), fraction >= 0,
      let date = try? Date("\(parts[0])Z", strategy: .iso8601)
    else { return nil }
    self.init(milliseconds: Int64(date.timeIntervalSince1970) * 1000 + fraction)
  }
}

/// JSON uses the text of `description`.
extension Timestamp: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let timestamp = Timestamp(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a time of RFC 3339 in UTC")
    }
    self = timestamp
  }

  package func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}
