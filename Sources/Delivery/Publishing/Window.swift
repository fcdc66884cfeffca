import Ledgers

/// The first waiting messages of a conversation, as they were read.
struct Window {
  var messages: [QueuedMessage]
  /// Whether nothing follows them.
  let isWhole: Bool

  /// At most `limit` messages from `first` on that can begin together: without preparation or lookup, and without a
  /// photo within `lookahead` behind them.
  ///
  /// - Parameter bytes: their size limit together; a single message may exceed it.
  func run(from first: Int, limit: Int, lookahead: Int, bytes: Int = BatchSize.bytes) -> [QueuedMessage] {
    let rest = messages.dropFirst(first)
    let known = rest.firstIndex { $0.kind.hasPhoto } ?? (isWhole ? rest.endIndex + lookahead : rest.endIndex)
    var room = bytes
    return Array(
      rest.prefix(max(0, min(limit, known - lookahead - rest.startIndex)))
        .prefix { message in
          defer { room -= message.bytes }
          let fits = message.bytes <= room || room == BatchSize.bytes
          return fits && message.kind == .text && message.state == .pending && message.reserved == nil
            && message.offeredTo == nil
        })
  }
}
