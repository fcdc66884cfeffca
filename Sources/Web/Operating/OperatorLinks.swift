import Ledgers
import Messages

/// The pages for who looks after the system.
enum OperatorPage: String, CaseIterable {
  case queue, storage, check, metrics, profile, sessions
}

extension PageSource {
  /// The links at the foot of the list of conversations, with their numbers.
  func links(current: OperatorPage?) throws -> [Values] {
    let sessions = session.may(.operate) ? [link(.sessions, "Sessions", current: current)] : []
    guard session.may(.see) else {
      return session.may(.send) ? [link(.profile, "Profile", current: current)] : []
    }
    let (waiting, failed) = try counts(QueueFilter(inbox: inbox))
    let queue = waiting + failed
    let use = try use()
    var links = [
      link(.queue, "Queue", value: queue > 0 ? "\(queue)" : "", isBad: failed > 0, current: current),
      link(.storage, "Storage", value: "\(use.percent) %", isBad: !use.beyond.isEmpty, current: current),
    ]
    // Pages about all inboxes are not for a session of one.
    if inbox == nil { links.append(link(.check, "Check", current: current)) }
    links += [link(.metrics, "Metrics", current: current), link(.profile, "Profile", current: current)]
    return links + sessions
  }

  private func link(
    _ page: OperatorPage, _ word: String, value: String = "", isBad: Bool = false, current: OperatorPage?
  ) -> Values {
    [
      "name": page.rawValue, "href": "/\(page.rawValue)", "word": word, "hasValue": !value.isEmpty, "value": value,
      "isBad": isBad, "isCurrent": page == current,
    ]
  }

  /// How many requests of a filter wait, and how many have failed.
  func counts(_ filter: QueueFilter) throws -> (waiting: Int, failed: Int) {
    try ledger?.queueCounts(filter) ?? (waiting: 0, failed: 0)
  }

  /// How full the cache is: of the session's inbox, else in all; and the inboxes beyond their limit.
  func use() throws -> (percent: Int, beyond: [CacheUse]) {
    let uses = try ledger?.cacheUse() ?? []
    let limits = settings.cache
    let own = uses.first { $0.inbox == inbox }
    let limit = inbox == nil ? limits.total : limits.inbox
    let beyond = uses.filter { use in
      guard let name = use.inbox else { return inbox == nil && use.bytes > limits.total }
      return (inbox == nil || name == inbox) && use.bytes > limits.inbox
    }
    return (percent(own?.bytes ?? 0, of: limit), beyond)
  }

  /// A sentence on inboxes beyond their limit; nil if there is none.
  var fullness: String? {
    get throws {
      let beyond = try use().beyond
      guard let use = beyond.first(where: { $0.inbox != nil }) ?? beyond.first else { return nil }
      let limit = use.inbox == nil ? settings.cache.total : settings.cache.inbox
      let whose = use.inbox.map { "of \(shown($0.text)) " } ?? ""
      return
        "The photos \(whose)here take \(sizeInWords(use.bytes)), beyond the limit of \(sizeInWords(limit)). Save those "
        + "that you want to keep: the least recently viewed go first."
    }
  }

  func percent(_ bytes: Int, of limit: Int) -> Int { limit > 0 ? bytes * 100 / limit : bytes > 0 ? 100 : 0 }
}
