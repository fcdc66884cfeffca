import Ledgers

/// The first waiting messages of a conversation, as they were read.
struct Window {
  var messages: [QueuedMessage]
  /// Whether nothing follows them.
  let isWhole: Bool

  /// The messages from the one at `first` on, `limit` at most, that can begin together: of each nothing has to be prepared
  /// or looked for, and there is no photo within `lookahead` behind it.
  ///
  /// - Parameter bytes: that they may have in all. Where nothing else is in their run, the first may have more.
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
        })
  }
}
