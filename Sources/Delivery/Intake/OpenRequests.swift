import Messages
import Synchronization

/// Requests in `new/` of which a program still has a file open for writing. A writer that just starts another program leaves its
/// files open in that one for a moment, which is long on a busy machine: so each is set aside and looked at again for a
/// second, while others are taken, and then refused. What came behind it waits in its conversation, if that can be read.
final class OpenRequests: Sendable {
  private struct Entry {
    let deadline: ContinuousClock.Instant
    let conversation: ConversationID?
    /// Nil while it is being looked at.
    var nextLook: ContinuousClock.Instant?
  }

  private let entries = Mutex<[String: Entry]>([:])

  private static let patience = Duration.seconds(1)
  private static let pause = Duration.milliseconds(20)

  /// Conversations in which later requests have to wait.
  var conversations: Set<ConversationID> { Set(entries.withLock { $0.values.compactMap(\.conversation) }) }
  /// When there is something to look at.
  var nextLook: ContinuousClock.Instant? { entries.withLock { $0.values.compactMap(\.nextLook).min() } }

  func contains(_ name: String) -> Bool { entries.withLock { $0[name] != nil } }

  /// The conversation of a request that is set aside and not to be looked at yet; nil for any other.
  func conversation(of name: String) -> ConversationID?? {
    entries.withLock { $0[name].flatMap { $0.nextLook == nil ? nil : .some($0.conversation) } }
  }

  /// Sets aside a request that is found open; false when it has been for long enough.
  func setAside(_ name: String, conversation: ConversationID?) -> Bool {
    entries.withLock { entries in
      let now = ContinuousClock.now
      let deadline = entries[name]?.deadline ?? now + Self.patience
      guard now < deadline else { return false }
      entries[name] = Entry(deadline: deadline, conversation: conversation, nextLook: now + Self.pause)
      return true
    }
  }

  /// A look at all of `new/` begins: those are looked at whose time has come.
  func beginLook() {
    entries.withLock { entries in
      let now = ContinuousClock.now
      for (name, entry) in entries { if let time = entry.nextLook, time <= now { entries[name]?.nextLook = nil } }
    }
  }

  /// It is over: what was not set aside again was taken, refused, or is gone.
  func endLook() { entries.withLock { $0 = $0.filter { $0.value.nextLook != nil } } }
}

/// Conversations whose later requests wait, as one in front of them does: known while a row of names is gone through.
final class WaitingConversations: Sendable {
  private let conversations: Mutex<Set<ConversationID>>

  init(_ conversations: Set<ConversationID> = []) { self.conversations = Mutex(conversations) }

  func insert(_ conversation: ConversationID?) {
    if let conversation { conversations.withLock { _ = $0.insert(conversation) } }
  }

  func contains(_ conversation: ConversationID) -> Bool { conversations.withLock { $0.contains(conversation) } }
}
