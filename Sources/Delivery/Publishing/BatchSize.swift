import Networks

/// How many texts of a conversation begin in one commit, and so end in one: the more, the less of a commit each of them costs.
///
/// What has begun cannot be cancelled any more, and is in doubt after a crash, so that it must not wait long for its turn.
struct BatchSize {
  /// How long the texts behind the first of a batch may wait for it and for one another.
  static let time = Duration.milliseconds(25)
  static let most = 16
  /// Bytes of the texts of a batch, unless the first alone has more: they are in memory together, and the `local` network
  /// looks for all of them among the last bytes of its file.
  static let bytes = 32_768
  /// How many begin next, on a network that is asked for batches.
  private(set) var length = 1

  func length(on network: any Network) -> Int { network.takesBatches ? length : 1 }

  /// So many were published within `time`.
  mutating func published(_ count: Int, in time: Duration) {
    guard count > 0 else { return }
    let fitting = Self.time / time * Double(count)
    length = max(1, Int(min(fitting, Double(min(2 * length, Self.most)))))
  }
}
