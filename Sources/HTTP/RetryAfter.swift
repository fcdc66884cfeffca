import CCurl
import Messages

/// The header `Retry-After` (RFC 9110, section 10.2.3): seconds or a date.
package enum RetryAfter {
  /// The longest wait, in seconds: a day.
  package static let longest = 86_400.0

  /// The requested seconds from `now`, between 0 and a day; nil for anything but a number or a date.
  package static func seconds(_ text: String, now: Timestamp = .now()) -> Double? {
    guard text.utf8.count <= 64, text.contains(where: { $0.isASCII && $0.isNumber }) else { return nil }
    let word = text.filter { $0 != " " && $0 != "\t" }
    if word.utf8.allSatisfy("+-.0123456789".utf8.contains) { return Double(word).map(bounded) }
    let date = ccurl_date(text)
    guard date >= 0 else { return nil }
    // A year may have ten digits, and its milliseconds then overflow an integer.
    return bounded(Double(date) - Double(now.milliseconds) / 1000)
  }

  private static func bounded(_ seconds: Double) -> Double { min(max(seconds, 0), longest) }
}
