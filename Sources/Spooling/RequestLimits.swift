/// Size limits of a request. A refusal names the limit and both values.
package enum RequestLimits {
  package static let photos = 10
  package static let photoBytes = 10_000_000
  /// Without its trailing newline.
  package static let textBytes = 65_536
  package static let textFileBytes = textBytes + 1
  /// Enough of `to`, `from`, `id` and `kind` to hold the longest identifier and to detect a longer one.
  static let fieldBytes = 1_024
  static let sumBytes = 16_384
  /// The names that the table allows, and those that a failed request brings back.
  static let entries = photos + 8
}
