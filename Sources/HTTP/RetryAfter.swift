import CCurl
import Messages

/// The header `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date.
package enum RetryAfter {
  /// No answer makes us wait longer, in seconds: a day.
  package static let longest = 86_400.0

  /// The seconds from `now` that are asked for: 0 for the past, and a day at most. Nil for what is neither a number nor
  /// a date.
  package static func seconds(_ text: String, now: Timestamp = .now()) -> Double? {
    guard text.utf8.count <= 64, text.contains(where: { $0.isASCII && $0.isNumber }) else { return nil }
    let word = text.filter { $0 != " " && $0 != "\t" }
    if word.utf8.allSatisfy("+-.0123456789".utf8.contains) { return Double(word).map(bounded) }
    let date = ccurl_date(text)
    guard date >= 0 else { return nil }
    // A year may have ten digits, and its milliseconds then more than an integer holds.
    return bounded(Double(date) - Double(now.milliseconds) / 1000)
  }

  private static func bounded(_ seconds: Double) -> Double { min(max(seconds, 0), longest) }
}
