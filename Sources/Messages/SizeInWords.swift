import Foundation

/// A size for people: `7.7 MB`.
package func sizeInWords(_ bytes: Int) -> String {
  switch bytes {
  case ..<1_000: "\(bytes) B"
  case ..<1_000_000: String(format: "%.1f kB", Double(bytes) / 1e3)
  case ..<1_000_000_000: String(format: "%.1f MB", Double(bytes) / 1e6)
  default: String(format: "%.1f GB", Double(bytes) / 1e9)
  }
}

/// A number and its noun: `1 photo`, `2 photos`.
///
/// - Parameter nouns: the plural, if it is not the noun and an `s`.
package func counted(_ count: Int, _ noun: String, _ nouns: String? = nil) -> String {
  "\(count) \(count == 1 ? noun : nouns ?? noun + "s")"
}
