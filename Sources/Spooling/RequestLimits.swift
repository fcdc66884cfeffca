/// How large a request may be. A request that passes one of these is refused with its name and both values.
package enum RequestLimits {
  /// Photos in one request.
  package static let photos = 10
  /// Bytes of one photo as dropped.
  package static let photoBytes = 10_000_000
  /// Bytes of `text`, its trailing newline not included.
  package static let textBytes = 65_536
  /// Bytes of the file, in which a newline may follow.
  package static let textFileBytes = textBytes + 1
  /// Bytes of `to`, `from`, `id` and `kind`: the longest identifier, its newline, and enough to tell that it is longer.
  static let fieldBytes = 1_024
  /// Bytes of `.sum`.
  static let sumBytes = 16_384
  /// Names in a request's directory: all that the table allows, and what a failed request brings back.
  static let entries = photos + 8
}
