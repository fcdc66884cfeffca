/// The model: the ledger's promises, from its answers and from what others see.
struct Promises {
  struct Broken: Error, CustomStringConvertible {
    let description: String
  }

  private struct Message {
    let conversation: String
    let place: [Int]
    var hasAppeared = false
    var object: String?
    /// Why it must not appear any more.
    var ban: String?
  }

  private var messages: [String: Message] = [:]
  private var last: [String: [Int]] = [:]

  /// - Parameter place: the arrival of its request, and its position there.
  mutating func accepted(_ message: String, to conversation: String, place: [Int]) {
    messages[message] = Message(conversation: conversation, place: place)
  }

  mutating func banned(_ message: String, because: String) { messages[message]?.ban = because }

  mutating func appeared(_ message: String, object: String?, stored: Set<String>) throws(Broken) {
    guard var known = messages[message] else { throw Broken(description: "\(message) was never accepted") }
    if known.hasAppeared { throw Broken(description: "DUP: \(message) appeared twice") }
    if let ban = known.ban { throw Broken(description: "\(message) appeared, and \(ban)") }
    if let last = last[known.conversation], !last.lexicographicallyPrecedes(known.place) {
      throw Broken(description: "ORDER: \(message) of \(known.place) appeared behind \(last)")
    }
    if let object, !stored.contains(object) { throw Broken(description: "\(message) appeared without \(object)") }
    last[known.conversation] = known.place
    (known.hasAppeared, known.object) = (true, object)
    messages[message] = known
  }

  func deleted(_ object: String) throws(Broken) {
    if isSeen(object) { throw Broken(description: "\(object) was deleted, which others can see") }
  }

  func isSeen(_ object: String) -> Bool { messages.values.contains { $0.object == object } }
  func hasAppeared(_ message: String) -> Bool { messages[message]?.hasAppeared ?? false }

  mutating func purged(_ conversation: String) {
    messages = messages.filter { $0.value.conversation != conversation }
  }

  /// Compares the ledger at the end with its promises.
  ///
  /// - Parameters:
  ///   - ends: state and cause, by message.
  ///   - duplicates: requests that were not sent because of another with their key.
  func check(ends: [String: (state: String, cause: String?)], duplicates: Set<String>) throws(Broken) {
    for (message, known) in messages {
      switch ends[message] {
      case ("sent", _)?:
        if !known.hasAppeared { throw Broken(description: "LOST: \(message) is sent and never appeared") }
      case ("failed", let cause)?:
        if cause == nil { throw Broken(description: "\(message) failed without a cause") }
      case ("cancelled", _)?: break
      case (let state, _)?: throw Broken(description: "LOST: \(message) is \(state) at the end")
      case nil:
        if known.hasAppeared || !duplicates.contains(String(message.prefix { $0 != "/" })) {
          throw Broken(description: "LOST: \(message) was accepted and is not in the ledger")
        }
      }
    }
  }
}
