import Foundation
import Messages

/// A client's text for a template, which escapes markup. Unseen characters are made visible, but for those that shape
/// others: templates isolate the direction of such texts.
///
/// Swift compares characters and not scalars: a markup character with a combining mark would pass the template
/// unescaped, so a zero width space is put between them.
func shown(_ text: String) -> String {
  var result = String.UnicodeScalarView()
  for scalar in text.unicodeScalars {
    if scalar == "\n" || !scalar.isUnseen || shaping.contains(scalar) {
      if let last = result.last, markup.contains(last), "\(last)\(scalar)".count == 1 { result.append("\u{200B}") }
      result.append(scalar)
    } else {
      result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
    }
  }
  return String(result)
}

private let markup: Set<Unicode.Scalar> = ["<", ">", "&", "\"", "'"]
/// Directions, and joiners and tags of emoji.
private let shaping: Set<Unicode.Scalar> = Set(
  [0x200C...0x200F, 0x202A...0x202E, 0x2066...0x2069, 0xE0020...0xE007F].flatMap { $0.compactMap(Unicode.Scalar.init) })

/// A value for an address, with everything escaped but unreserved characters (RFC 3986 §2.3).
func inAddress(_ text: String) -> String { text.percentEncoded() }

/// Times as people read them, in the time zone of this computer.
struct LocalTime: Sendable {
  let now: Timestamp

  /// `10:02`
  func time(_ time: Timestamp) -> String { time.local("%H:%M") }

  /// `Today`, `Yesterday` or `Monday 3 March 2025`.
  func day(_ time: Timestamp) -> String {
    if isSameDay(time, now) { return "Today" }
    if isSameDay(time, now.advanced(seconds: -86_400)) { return "Yesterday" }
    return time.local("%A %-d %B %Y")
  }

  /// The beginning of a day such as `2025-03-31`, as browsers write dates; nil for anything else.
  static func beginning(of day: String) -> Timestamp? {
    let numbers = day.split(separator: "-", omittingEmptySubsequences: false).map { Int32($0) }
    guard numbers.count == 3, let year = numbers[0], let month = numbers[1], let date = numbers[2],
      (1970...9999).contains(year)
    else { return nil }
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday, parts.tm_isdst) = (year - 1900, month - 1, date, -1)
    let seconds = mktime(&parts)
    // Another day than this one comes of a month with fewer days.
    guard parts.tm_mon == month - 1, parts.tm_mday == date else { return nil }
    return Timestamp(milliseconds: Int64(seconds) * 1000)
  }

  /// `10:02` today, `Mon` within a week, `3 Mar` this year, else `2024`.
  func short(_ time: Timestamp) -> String {
    if isSameDay(time, now) { return self.time(time) }
    let age = now.seconds(since: time)
    if age > 0 && age < 6 * 86_400 { return time.local("%a") }
    return time.local(time.localParts.tm_year == now.localParts.tm_year ? "%-d %b" : "%Y")
  }

  func isSameDay(_ one: Timestamp, _ other: Timestamp) -> Bool {
    let (one, other) = (one.localParts, other.localParts)
    return one.tm_year == other.tm_year && one.tm_yday == other.tm_yday
  }
}
