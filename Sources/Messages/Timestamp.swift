import FoundationEssentials

/// A moment of the wall clock in milliseconds since 1970-01-01T00:00:00Z, as the ledger keeps it.
public struct Timestamp: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  public let milliseconds: Int64

  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// The wall clock's present.
  public static func now() -> Timestamp {
    Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
  }

  /// RFC 3339 in UTC with milliseconds: `2026-02-28T12:00:00.250Z`.
  public var description: String {
    Date(timeIntervalSince1970: Double(milliseconds) / 1000)
      .formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true).timeZone(separator: .omitted))
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
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    guard let date = try? Date(text, strategy: style) else { return nil }
    self.init(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded()))
  }
}
