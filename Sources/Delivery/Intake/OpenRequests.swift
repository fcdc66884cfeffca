import Messages
import Synchronization

/// Requests in `new/` with a file that a program still writes. A process inherits open files for a moment when a writer
/// starts it, which is long on a busy machine. So such a request is set aside and checked again for a second while
/// others are accepted, and then refused. Later ones of its conversation wait, if that is readable.
final class OpenRequests: Sendable {
  private struct Entry {
    let deadline: ContinuousClock.Instant
    let conversation: ConversationID?
    /// nil during a check.
    var nextLook: ContinuousClock.Instant?
  }

  private let entries = Mutex<[String: Entry]>([:])

  private static let patience = Duration.seconds(1)
  private static let pause = Duration.milliseconds(20)
  private let now: @Sendable () -> ContinuousClock.Instant

  /// Tests bring a time of their own.
  init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

  /// Conversations whose later requests wait.
  var conversations: Set<ConversationID> { Set(entries.withLock { $0.values.compactMap(\.conversation) }) }
  var nextLook: ContinuousClock.Instant? { entries.withLock { $0.values.compactMap(\.nextLook).min() } }

  func contains(_ name: String) -> Bool { entries.withLock { $0[name] != nil } }

  /// The conversation of a request that is set aside until later; nil for any other.
  func conversation(of name: String) -> ConversationID?? {
    entries.withLock { $0[name].flatMap { $0.nextLook == nil ? nil : .some($0.conversation) } }
  }

  /// Sets an open request aside; false if it has been for long enough.
  func setAside(_ name: String, conversation: ConversationID?) -> Bool {
    entries.withLock { entries in
      let now = self.now()
      let deadline = entries[name]?.deadline ?? now + Self.patience
      guard now < deadline else { return false }
      entries[name] = Entry(deadline: deadline, conversation: conversation, nextLook: now + Self.pause)
      return true
    }
  }

  /// Begins a scan of `new/`, which checks the due ones.
  func beginLook() {
    entries.withLock { entries in
      let now = self.now()
      for (name, entry) in entries { if let time = entry.nextLook, time <= now { entries[name]?.nextLook = nil } }
    }
  }

  /// Ends the scan: requests that were not set aside again are accepted, refused or gone.
  func endLook() { entries.withLock { $0 = $0.filter { $0.value.nextLook != nil } } }
}
