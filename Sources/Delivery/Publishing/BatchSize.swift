import Networks

/// The number of texts of a conversation that begin and end in one commit. More texts cost fewer commits, but a text
/// that has begun cannot be cancelled, and is in doubt after a crash, so it must not wait long.
struct BatchSize {
  /// The longest wait of texts in a batch.
  static let time = Duration.milliseconds(25)
  static let most = 16
  /// The size limit of a batch in bytes, unless its first text is larger: texts are in memory together, and the `local`
  /// network searches the end of its file for all of them.
  static let bytes = 32_768
  /// The size of the next batch, on networks that accept batches.
  private(set) var length = 1

  func length(on network: any Network) -> Int { network.takesBatches ? length : 1 }

  /// Records that `count` texts were published within `time`.
  mutating func published(_ count: Int, in time: Duration) {
    guard count > 0 else { return }
    let fitting = Self.time / time * Double(count)
    length = max(1, Int(min(fitting, Double(min(2 * length, Self.most)))))
  }
}
