import Ledgers
import Messages
import Spooling

extension PageSource {
  /// The composer's contents: as a person typed them, if it comes back with a problem.
  struct Composer {
    var id: String
    var text = ""
    var problem: String?
    /// The draft that it goes on with.
    var draft: OpenDraft?
  }

  /// The values of a conversation's page.
  ///
  /// - Parameter place: the place before or after which the page lies; nil for the newest.
  func conversation(
    _ conversation: ConversationID, asPart: Bool = false, from place: PagePlace?, isForward: Bool,
    composer: Composer
  ) throws -> Values {
    let name = inAddress(conversation.text)
    let isHeld = try ledger?.state(of: conversation).isHeld ?? false
    var values = try frame(current: conversation, limit: asPart ? nil : Self.besides)
    var messages: [Values] = []
    var page = TimelinePage()
    if session.may(.see) {
      page = try ledger?.timeline(of: conversation, inbox: inbox, from: place, isForward: isForward) ?? page
      for (index, entry) in page.entries.enumerated() {
        messages.append(
          try MessageView(source: self, entry: entry, isHeld: isHeld).values(
            after: index > 0 ? page.entries[index - 1] : nil,
            before: index + 1 < page.entries.count ? page.entries[index + 1] : nil))
      }
    }
    if place == nil && session.may(.see) {
      messages += try spool.waitingRequests(to: conversation, inbox: inbox).flatMap { $0.values(at: clock) }
    }
    let first = page.entries.last.map { "#\($0.message)" } ?? ""
    let older = page.older.map { "/conversation?name=\(name)&before=\($0)" }
    let newer = page.newer.map { "/conversation?name=\(name)&after=\($0)\(first)" }
    values.merge([
      "conversation": shown(conversation.text), "nameQuery": name, "isHeld": isHeld, "hasOlder": older != nil,
      "older": older ?? "", "hasNewer": newer != nil, "newer": newer ?? "", "hasMessages": !messages.isEmpty,
      "messages": messages, "asksAutoReveal": try asksAutoReveal(conversation),
      "id": composer.id, "text": shown(composer.text), "hasProblem": composer.problem != nil,
      "problem": shown(composer.problem ?? ""),
    ]) { $1 }
    values.merge(try self.values(of: composer.draft)) { $1 }
    return values
  }

  /// The address of the page that begins with a day, as browsers write dates; of the newest page if nothing came since then.
  func address(of day: String, in conversation: ConversationID) throws -> String {
    let newest = "/conversation?name=\(inAddress(conversation.text))"
    guard session.may(.see), let ledger, let time = LocalTime.beginning(of: day),
      let place = try ledger.place(before: time, in: conversation),
      let first = try ledger.timeline(of: conversation, inbox: inbox, from: place, isForward: true, limit: 1).entries
        .first
    else { return newest }
    return "\(newest)&after=\(place)#\(first.message)"
  }

  /// Whether a photo was revealed and nobody has said what becomes of later ones.
  func asksAutoReveal(_ conversation: ConversationID) throws -> Bool {
    guard session.may(.see), let preferences = try ledger?.preferences(of: conversation.text) else { return false }
    return preferences.hasRevealed && preferences.autoReveal == nil
  }
}
