import Control
import Janitor
import Ledgers
import Messages
import Spooling

/// Commands for received photos and the cache.
extension CommandHandler {
  func reveal(_ messages: [String]) async throws -> [ControlReply.Outcome] {
    var outcomes = [ControlReply.Outcome]()
    for message in messages {
      switch try await ledger.reveal(MessageID(unchecked: message), at: .now()) {
      case .granted: outcomes.append(.init(message, isDone: true, "revealed"))
      case .already: outcomes.append(.init(message, isDone: true, "revealed already"))
      case .own: outcomes.append(.init(message, isDone: false, "it was sent from here and is not hidden"))
      case .unknown, .gone: outcomes.append(.init(message, isDone: false, "no received photo of that id is known"))
      }
    }
    return outcomes
  }

  func hide(_ messages: [String]) async throws -> [ControlReply.Outcome] {
    var outcomes = [ControlReply.Outcome]()
    for message in messages {
      let id = MessageID(unchecked: message)
      let wish = try await ledger.hide(id) { [cache = PhotoCache(spool)] inbox, conversation in
        try cache.path(PhotoPlace(inbox: inbox, conversation: conversation, message: id), isBlurred: true) != nil
      }
      switch wish {
      case .granted: outcomes.append(.init(message, isDone: true, "hidden"))
      case .already: outcomes.append(.init(message, isDone: true, "hidden already"))
      case .own: outcomes.append(.init(message, isDone: false, "it was sent from here and cannot be hidden"))
      case .unknown: outcomes.append(.init(message, isDone: false, "no received photo of that id is known"))
      case .gone:
        outcomes.append(
          .init(message, isDone: false, "its preview is not in the cache, and it cannot be fetched again"))
      }
    }
    return outcomes
  }

  func want(_ messages: [String]) async throws -> [ControlReply.Outcome] {
    var outcomes = [ControlReply.Outcome]()
    for message in messages {
      switch try await ledger.want(MessageID(unchecked: message), at: .now()) {
      case .granted, .already: outcomes.append(.init(message, isDone: true, "is fetched"))
      case .unknown, .own: outcomes.append(.init(message, isDone: false, "no photo of that id is known"))
      case .gone:
        outcomes.append(.init(message, isDone: false, "its address is no longer known, so it cannot be fetched"))
      }
    }
    signals.ringAll()
    return outcomes
  }

  func prefer(_ conversation: ConversationID, fetch: String?, autoReveal: Bool?) async throws -> ControlReply {
    let policy = fetch.flatMap(FetchPolicy.init(rawValue:))
    if let fetch, policy == nil { return Self.isNoPolicy(fetch) }
    try await ledger.setPreferences(fetch: policy, autoReveal: autoReveal, of: conversation, at: .now())
    return ControlReply(outcomes: [.init(conversation.text, isDone: true, "set")])
  }

  func prefer(inbox: InboxID, fetch: String) async throws -> ControlReply {
    guard let policy = FetchPolicy(rawValue: fetch) else { return Self.isNoPolicy(fetch) }
    try await ledger.setFetchPolicy(policy, of: inbox)
    return ControlReply(outcomes: [.init(inbox.text, isDone: true, "set")])
  }

  func clear(inbox: InboxID?, conversation: ConversationID?) async throws -> ControlReply {
    let (count, isDone) =
      if let work { try await work.clearer.clear(inbox: inbox, conversation: conversation) } else {
        try await CacheClearing(spool: spool, ledger: ledger).run(inbox: inbox, conversation: conversation)
      }
    let sentence = isDone ? "\(count.amount)" : "\(count.amount); the daemon stops and leaves the rest; run it again"
    return ControlReply(outcomes: [.init("", isDone: isDone, sentence)])
  }

  private static func isNoPolicy(_ word: String) -> ControlReply {
    ControlReply(error: "\(escaped(word)) is not one of always, known and ask")
  }
}
