import Ledgers
import Networks

/// How many texts of a conversation begin in one commit, and so end in one: the more, the less of a commit each of them costs.
///
/// What has begun cannot be cancelled any more, and is in doubt after a crash, so that it must not wait long for its turn.
struct RunPace {
  /// How long the texts behind the first of a run may wait for it and for one another.
  static let time = Duration.milliseconds(25)
  static let most = 16
  /// Bytes of the texts of a run, unless the first alone has more: they are in memory together, and the `local` network
  /// looks for all of them among the last bytes of its file.
  static let bytes = 32_768
  /// How many begin next, on a network that is asked for runs.
  private(set) var length = 1

  func length(on network: any Network) -> Int { network.takesRuns ? length : 1 }

  /// So many were published within `time`.
  mutating func published(_ count: Int, in time: Duration) {
    guard count > 0 else { return }
    let fitting = Self.time / time * Double(count)
    length = max(1, Int(min(fitting, Double(min(2 * length, Self.most)))))
  }
}

/// The first messages of a conversation that wait, as they were found.
struct Window {
  var messages: [QueuedMessage]
  /// Whether there was nothing behind them.
  let isWhole: Bool

  /// The messages from the one at `first` on, `limit` at most, that can begin together: of each nothing has to be prepared
  /// or looked for, and there is no photo within `lookahead` behind it.
  ///
  /// - Parameter bytes: that they may have in all. Where nothing else is in their run, the first may have more.
  func run(from first: Int, limit: Int, lookahead: Int, bytes: Int = RunPace.bytes) -> [QueuedMessage] {
    let rest = messages.dropFirst(first)
    let known = rest.firstIndex { $0.kind.hasPhoto } ?? (isWhole ? rest.endIndex + lookahead : rest.endIndex)
    var room = bytes
    return Array(
      rest.prefix(max(0, min(limit, known - lookahead - rest.startIndex)))
        .prefix { message in
          defer { room -= message.bytes }
          let fits = message.bytes <= room || room == RunPace.bytes
          return fits && message.kind == .text && message.state == .pending && message.reserved == nil
        })
  }
}
