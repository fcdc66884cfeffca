/// A size in the configuration: `250000`, `500kB`, `10 MB`, `1GiB`. kB, MB, GB and TB are powers of 1000, KiB, MiB, GiB
/// and TiB powers of 1024, in any case.
package enum SizeText {
  private static let decimal = [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000)]
  private static let binary = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]

  /// nil if the text is invalid.
  package static func parse(_ text: String) -> Int? {
    guard let (number, unit) = splitNumber(text) else { return nil }
    let units = decimal + binary + [("B", 1), ("", 1)]
    guard let size = units.first(where: { $0.0.lowercased() == unit.lowercased() })?.1 else { return nil }
    let (total, overflow) = number.multipliedReportingOverflow(by: size)
    return overflow ? nil : total
  }

  /// In the largest exact unit.
  package static func show(_ bytes: Int) -> String {
    for (unit, size) in decimal + binary where bytes != 0 && bytes % size == 0 {
      return "\(bytes / size)\(unit)"
    }
    return "\(bytes)"
  }
}

/// The whole number at the start of `text` and the unit after it, with or without a blank in between.
func splitNumber(_ text: String) -> (number: Int, unit: String)? {
  let digits = text.prefix { $0.isASCII && $0.isNumber }
  guard let number = Int(digits) else { return nil }
  var unit = text[digits.endIndex...]
  if unit.first == " " { unit = unit.dropFirst() }
  return (number, String(unit))
}
