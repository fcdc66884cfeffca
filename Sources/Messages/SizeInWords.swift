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
