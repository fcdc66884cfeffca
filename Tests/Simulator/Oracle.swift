import Messages

/// What a broken promise is: with what happened before.
struct BrokenPromise: Error, CustomStringConvertible {
  let description: String
}

/// What was promised to clients, and whether it is kept.
struct Oracle {
  /// A message as its client means it: its file in its directory.
  struct Meaning: Hashable {
    let inode: UInt64
    let file: String
  }

  private struct Known {
    let meaning: Meaning
    let conversation: String
    var place: (arrival: Int, position: Int)
    /// Effects on the network, of whatever id.
    var effects = 0
    var object: String?
    /// Why it must not appear any more.
    var ban: String?
  }

  private var messages: [String: Known] = [:]
  private var last: [String: (arrival: Int, position: Int)] = [:]

  mutating func accepted(_ message: MessageID, _ meaning: Meaning, to conversation: String, arrival: Int, position: Int)
  {
    var known = messages[message.text] ?? Known(meaning: meaning, conversation: conversation, place: (0, 0))
    known.place = (arrival, position)
    // A request that failed and came back is sent after all.
    known.ban = nil
    messages[message.text] = known
  }

  mutating func banned(_ message: MessageID, because: String) { messages[message.text]?.ban = because }

  /// A message became visible to others.
  mutating func appeared(_ message: MessageID, object: String?, stored: Set<String>) throws(BrokenPromise) {
    guard var known = messages[message.text] else {
      throw BrokenPromise(description: "\(message) appeared and was never accepted")
    }
    known.effects += 1
    known.object = object
    if known.effects > 1 { throw BrokenPromise(description: "DUP: \(message) appeared twice") }
    if let ban = known.ban { throw BrokenPromise(description: "\(message) appeared, and \(ban)") }
    if let last = last[known.conversation], last >= known.place {
      throw BrokenPromise(
        description: "ORDER: \(message) of place \(known.place) appeared in \(known.conversation) behind \(last)")
    }
    if let object, !stored.contains(object) {
      throw BrokenPromise(description: "\(message) appeared, and its object \(object) is not in the store")
    }
    last[known.conversation] = known.place
    messages[message.text] = known
  }

  func deleted(_ object: String) throws(BrokenPromise) {
    if let message = messages.first(where: { $0.value.object == object }) {
      throw BrokenPromise(description: "the object of \(message.key) was deleted, which others can see")
    }
  }

  func hasAppeared(_ message: String) -> Bool { messages[message].map { $0.effects > 0 } ?? false }

  /// What was purged is not looked for any more.
  mutating func purged(_ conversation: String) {
    messages = messages.filter { $0.value.conversation != conversation }
  }

  /// The messages whose end is still owed.
  var all: [String] { messages.keys.sorted() }

  /// Whether an object is one that others can see.
  func isSeen(_ object: String) -> Bool { messages.contains { $0.value.object == object } }
}
