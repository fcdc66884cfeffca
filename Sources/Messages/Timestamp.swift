import FoundationEssentials

/// A moment of the wall clock in milliseconds since 1970-01-01T00:00:00Z, as the ledger keeps it.
public struct Timestamp: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  public let milliseconds: Int64

  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// The wall clock's present.
  public static func now() -> Timestamp {
    Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
  }

  /// RFC 3339 in UTC with milliseconds: `2026-02-28T12:00:00.250Z`. Read back, it is the same moment.
  public var description: String {
    // The fraction is put in by hand: a formatter of floating-point seconds is a millisecond off now and then.
    let (seconds, fraction) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    let isNegative = fraction < 0
    let whole = Date(timeIntervalSince1970: Double(isNegative ? seconds - 1 : seconds)).formatted(.iso8601)
    let digits = String(isNegative ? fraction + 1000 : fraction)
    return "\(whole.dropLast()).\(String(repeating: "0", count: 3 - digits.count))\(digits)Z"
  }

  public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

  /// The moment `seconds` later.
  public func advanced(seconds: Double) -> Timestamp {
    Timestamp(milliseconds: milliseconds + Int64((seconds * 1000).rounded()))
  }

  /// Seconds from `earlier` to this moment; negative when the clock was set back between them.
  public func seconds(since earlier: Timestamp) -> Double {
    Double(milliseconds - earlier.milliseconds) / 1000
  }
}

extension Timestamp {
  /// Reads what `description` wrote; nil for anything else.
  public init?(_ text: String) {
    let parts = text.split(separator: ".")
    guard parts.count == 2, parts[1].count == 4, let fraction = Int64(parts[1].dropLast()), fraction >= 0,
      let date = try? Date("\(parts[0])Z", strategy: .iso8601)
    else { return nil }
    self.init(milliseconds: Int64(date.timeIntervalSince1970) * 1000 + fraction)
  }
}
