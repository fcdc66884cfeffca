import Ledgers
import Messages
import Spooling

extension PageSource {
  /// The photo with an id here, if this session may see it.
  private func photo(_ id: String) throws -> (story: PhotoStory, entry: TimelineEntry) {
    let story = try story(id)
    guard let place = try ledger?.place(after: story.message),
      let entry = try ledger?.timeline(of: story.conversation, inbox: inbox, from: place).entries
        .last(where: { $0.message == story.message })
    else { throw WebProblem(.notFound, "There is no such photo here.") }
    return (story, entry)
  }

  /// The values of a photo's page.
  func viewer(_ id: String) throws -> Values {
    let (story, entry) = try photo(id)
    let (previous, next) = try ledger?.neighbours(of: story.message, inbox: inbox) ?? (nil, nil)
    var values = try MessageView(source: self, entry: entry, isHeld: false).values(after: nil, before: nil)
    let size = entry.size ?? (1, 1)
    values.merge([
      "conversation": shown(story.conversation.text), "nameQuery": inAddress(story.conversation.text),
      "day": clock.day(entry.time), "width": size.width, "height": size.height,
      "details": entry.size == nil
        ? sizeInWords(entry.bytes) : "\(size.width) × \(size.height), \(sizeInWords(entry.bytes))",
      "hasPrevious": previous != nil, "previous": previous?.text ?? "", "hasNext": next != nil,
      "next": next?.text ?? "", "asksAutoReveal": try asksAutoReveal(story.conversation),
      "maySend": session.may(.send), "mayOperate": session.may(.operate),
    ]) { $1 }
    return values
  }
}
