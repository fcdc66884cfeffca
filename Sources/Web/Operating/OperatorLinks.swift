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
    guard session.may(.see) else { return sessions }
    let (waiting, failed) = try counts(QueueFilter(inbox: inbox))
    let queue = waiting + failed
    return [link(.queue, "Queue", value: queue > 0 ? "\(queue)" : "", isBad: failed > 0, current: current)] + sessions
  }

  private func link(
    _ page: OperatorPage, _ word: String, value: String = "", isBad: Bool = false, current: OperatorPage?
  ) -> Values {
    [
      "name": page.rawValue, "href": "/\(page.rawValue)", "word": word, "hasValue": !value.isEmpty, "value": value,
      "isBad": isBad, "isCurrent": page == current,
    ]
  }

  /// The values of the frame round an operator's page.
  func operating(_ page: OperatorPage, notice: String? = nil) throws -> Values {
    try frame(notice: notice, page: page)
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

  func percent(_ bytes: Int, of limit: Int) -> Int { limit > 0 ? bytes * 100 / limit : bytes > 0 ? 100 : 0 }
}
