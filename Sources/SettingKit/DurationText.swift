/// A duration in the configuration: a whole number and `ms`, `s`, `m`, `h` or `d`.
package enum DurationText {
  private static let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)]

  /// nil if the text is invalid. A number without a unit is.
  package static func parse(_ text: String) -> Duration? {
    guard let (number, unit) = splitNumber(text), let milliseconds = units.first(where: { $0.0 == unit })?.1
    else { return nil }
    let (total, overflow) = number.multipliedReportingOverflow(by: milliseconds)
    return overflow ? nil : .milliseconds(total)
  }

  /// In the largest exact unit, in milliseconds at least.
  package static func show(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    let milliseconds = Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
    for (unit, size) in units where milliseconds != 0 && milliseconds % size == 0 {
      return "\(milliseconds / size)\(unit)"
    }
    return "\(milliseconds)ms"
  }
}
