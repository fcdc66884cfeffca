import Ledgers
import Messages
import Spooling

/// The content of a tab: `list`, or `conversation:NAME`.
enum LiveView: Equatable, Sendable {
  case list
  case conversation(ConversationID)

  /// nil for anything else.
  init?(_ text: String) {
    let conversation = "conversation:"
    if text == "list" {
      self = .list
    } else if text.hasPrefix(conversation), let name = try? ConversationID(String(text.dropFirst(conversation.count))) {
      self = .conversation(name)
    } else {
      return nil
    }
  }

  /// The views of an address's query, in their order; at most 32. One that cannot be read is nil: events number them.
  static func all(in query: String) -> [LiveView?] {
    formValues("view", in: query).prefix(32).map(LiveView.init)
  }
}

/// The content of a view, in brief: a number for each message, which changes with it. `list`, `held` and `draft` stand for the
/// list of conversations, the hold and the composer.
struct LiveSketch: Sendable, Equatable {
  var numbers: [String: Int] = [:]
  /// Messages of the draft.
  var drafted: Set<String> = []

  func shows(_ message: String) -> Bool { numbers[message] != nil || drafted.contains(message) }

  /// - Returns: ids that are new or have another number, and ids that are gone.
  func changes(since earlier: LiveSketch) -> (changed: [String], gone: [String]) {
    (
      numbers.filter { earlier.numbers[$0.key] != $0.value }.keys.sorted(),
      earlier.numbers.keys.filter { numbers[$0] == nil }.sorted()
    )
  }
}

extension PageSource {
  func sketch(of view: LiveView, draft: OpenDraft?) throws -> LiveSketch {
    var sketch = LiveSketch()
    let limit = view == .list ? 60 : Self.besides
    let list = try ledger?.conversations(inbox: inbox, limit: limit).conversations ?? []
    sketch.numbers["list"] =
      list.map {
        "\($0.conversation) \($0.time) \($0.state?.rawValue ?? "") \($0.waiting) \($0.isHeld) \($0.failed) \($0.hasDraft) "
          + "\($0.photo?.message.text ?? "") \($0.photo?.isHidden ?? false)"
      }.hashValue
    guard case .conversation(let conversation) = view else { return sketch }
    for entry in try ledger?.timeline(of: conversation, inbox: inbox).entries ?? [] {
      // A request is put into `failed/` after its message has failed. It can be tried again from then on.
      let isFailed = entry.state == .failed || entry.requestState == .failed
      let isKept = try isFailed && entry.request.map { try spool.failed.entry($0) != nil } == true
      sketch.numbers[entry.message.text] = isKept ? ~entry.number : entry.number
    }
    for request in try spool.waitingRequests(to: conversation, inbox: inbox) { sketch.numbers[request.name] = 0 }
    sketch.numbers["held"] = try ledger?.state(of: conversation).isHeld == true ? 1 : 0
    guard let draft else {
      sketch.numbers["draft"] = 0
      return sketch
    }
    let messages = (try? ledger?.story(of: draft.name.text))?.messages ?? []
    sketch.drafted = Set(messages.map(\.message))
    sketch.numbers["draft"] =
      (try [draft.text() ?? ""] + draft.photos().map(\.file)
      + messages.map { "\($0.file) \($0.state.rawValue) \($0.error ?? "") \($0.photo != nil)" }).hashValue
    return sketch
  }
}

extension TimelineEntry {
  /// Changes with what a page shows of it.
  fileprivate var number: Int {
    var hasher = Hasher()
    hasher.combine(state)
    hasher.combine(requestState)
    hasher.combine(received)
    hasher.combine(isHidden)
    hasher.combine(error)
    hasher.combine(nextAttempt)
    hasher.combine(hasThumbnail)
    hasher.combine(hasOriginal)
    return hasher.finalize()
  }
}
