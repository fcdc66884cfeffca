import Ledgers
import Messages

extension PageSource {
  func viewer(_ id: String) throws -> Values {
    guard let ledger else { throw WebProblem.noPhoto }
    let story = try ledger.photo(id, for: session)
    guard let place = try ledger.place(after: story.message) else { throw WebProblem.noPhoto }
    let page = try ledger.timeline(of: story.conversation, inbox: inbox, from: place)
    guard let index = page.entries.lastIndex(where: { $0.message == story.message }) else { throw WebProblem.noPhoto }
    let entry = page.entries[index]
    let isPhoto = { (entry: TimelineEntry) in entry.kind != .text && entry.hasThumbnail }
    let previous =
      try page.entries[..<index].last(where: isPhoto)?.message
      ?? firstPhoto(in: story.conversation, from: page.older, isForward: false)
    let next =
      try page.entries[(index + 1)...].first(where: isPhoto)?.message
      ?? firstPhoto(in: story.conversation, from: page.newer, isForward: true)
    let size = entry.size ?? (1, 1)
    return try MessageView(source: self, entry: entry, isHeld: false).values(after: nil, before: nil).merging([
      "conversation": shown(story.conversation.text), "nameQuery": inAddress(story.conversation.text),
      "day": clock.day(entry.time), "width": size.width, "height": size.height,
      "details": entry.size == nil
        ? sizeInWords(entry.bytes) : "\(size.width) × \(size.height), \(sizeInWords(entry.bytes))",
      "hasPrevious": previous != nil, "previous": previous?.text ?? "", "hasNext": next != nil,
      "next": next?.text ?? "",
      "asksAutoReveal": try !entry.isOwn && !entry.isHidden && asksAutoReveal(story.conversation),
      "maySend": session.may(.send), "mayOperate": session.may(.operate),
    ]) { $1 }
  }

  /// The photo of a timeline that is nearest to a place on one side.
  private func firstPhoto(
    in conversation: ConversationID, from place: PagePlace?, isForward: Bool
  ) throws -> MessageID? {
    var place = place
    while let start = place {
      guard let page = try ledger?.timeline(of: conversation, inbox: inbox, from: start, isForward: isForward) else {
        return nil
      }
      let entries = isForward ? page.entries : page.entries.reversed()
      if let found = entries.first(where: { $0.kind != .text && $0.hasThumbnail }) { return found.message }
      place = isForward ? page.newer : page.older
    }
    return nil
  }
}
