import Control
import Ledgers
import Messages

/// The photo cache against its limits, and what leaves it.
extension PageSource {
  /// The use of the cache and of the stores.
  ///
  /// - Parameter objects: those of `directory` stores; nil if no daemon tells.
  func storage(notice: String?, objects: ControlReply.Objects?) throws -> Values {
    var uses: [StorageUse] = []
    try ledger?.forEachUse(inbox: inbox, total: settings.cache.total, each: settings.cache.inbox) {
      uses.append($0)
    }
    let whole = uses.first { $0.inbox == nil } ?? StorageUse(limit: settings.cache.total)
    let inboxes = uses.filter { $0.inbox != nil && $0.conversation == nil }
    let ran = try ledger?.janitorRan()
    let departures = try ledger?.departures(inbox: inbox, limit: 8).map(departure) ?? []
    let facts: Values = [
      "isWhole": inbox == nil, "hasObjects": objects.map { $0.count > 0 } ?? false,
      "objects": counted(objects?.count ?? 0, "object"), "objectBytes": sizeInWords(objects?.bytes ?? 0),
      "ran": ran.map { "The janitor ran \(clock.distance($0)) ago." } ?? "The janitor has not run yet.",
      "hasDepartures": !departures.isEmpty, "departures": departures,
      "hasPhotos": !inboxes.isEmpty,
      "inboxes": inboxes.map { use in
        self.inbox(use, uses.filter { $0.inbox == use.inbox && $0.conversation != nil })
      },
    ]
    return try frame(notice: notice, page: .storage).merging(facts) { $1 }.merging(meter(whole)) { $1 }
  }

  private func inbox(_ use: StorageUse, _ conversations: [StorageUse]) -> Values {
    let name = use.inbox ?? ""
    let values: Values = [
      "inbox": shown(name), "inboxQuery": inAddress(name), "conversations": conversations.map(conversation),
    ]
    return meter(use).merging(values) { $1 }
  }

  private func meter(_ use: StorageUse) -> Values {
    let (limit, share) = (use.limit ?? 0, percent(use.bytes, of: use.limit ?? 0))
    return [
      "bytes": sizeInWords(use.bytes), "limit": sizeInWords(limit), "photos": counted(use.photos, "photo"),
      "percent": share, "filled": min(100, share), "isBeyond": use.bytes > limit,
    ]
  }

  private func conversation(_ use: StorageUse) -> Values {
    let name = use.conversation ?? ""
    let isProfile = name.hasPrefix("profile~")
    return [
      "conversation": shown(name), "nameQuery": inAddress(name), "isProfile": isProfile,
      "bytes": sizeInWords(use.bytes), "photos": counted(use.photos, "photo"),
      "mayClear": session.may(.operate) && !isProfile,
    ]
  }

  private func departure(_ photo: Departure) -> Values {
    [
      "message": photo.message.text, "picture": photo.isHidden ? "blurred" : "thumbnail",
      "conversation": shown(photo.conversation.description), "bytes": sizeInWords(photo.bytes),
      "viewed": photo.viewedAt.map { "viewed \(clock.short($0))" } ?? "never viewed",
    ]
  }

  // MARK: Clear and purge

  /// The rehearsal of `clear`.
  func clearing(inbox: InboxID?, conversation: ConversationID?) throws -> Values {
    let plan = try ledger?.clearPlan(inbox: inbox, conversation: conversation) ?? ClearPlan()
    let whose = inbox.map { "the inbox \(shown($0.text))" }
    let what = [conversation.map { "the conversation \(shown($0.text))" }, whose].compactMap(\.self)
    let address = [inbox.map { "inbox=\(inAddress($0.text))" }, conversation.map { "name=\(inAddress($0.text))" }]
    return try frame(page: .storage).merging([
      "scope": what.isEmpty ? "all conversations" : what.joined(separator: " of "),
      "address": address.compactMap(\.self).joined(separator: "&"), "going": "\(plan.going)",
      "isSomething": plan.going.bytes > 0, "staying": plan.staying.map { ["sentence": sentence($0)] as Values },
    ]) { $1 }
  }

  /// The page that asks for the name of a conversation before it is deleted, or says why it was not.
  func purging(_ conversation: ConversationID, problem: String?) throws -> Values {
    let (photos, bytes) = try ledger?.use(of: conversation, inbox: nil) ?? (0, 0)
    let waiting = try ledger?.state(of: conversation).waiting ?? 0
    return try frame(page: .storage).merging([
      "conversation": shown(conversation.text), "nameQuery": inAddress(conversation.text),
      "loss": "\(counted(photos, "photo")) with \(sizeInWords(bytes)), and \(counted(waiting, "waiting message"))",
      "hasProblem": problem != nil, "problem": problem ?? "",
    ]) { $1 }
  }
}
