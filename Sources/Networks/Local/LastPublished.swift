import Messages
import Synchronization

/// The last message of those files whose end this process wrote itself, so that it need not read it. A bounded number:
/// the others are looked at again.
final class LastPublished: Sendable {
  private let limit: Int
  private let ends = Mutex<[String: MessageID]>([:])

  init(limit: Int) { self.limit = limit }

  /// The last message of `file`, nil when it is not known. It counts as unknown until it is remembered again, so that
  /// whatever goes wrong meanwhile, the next one looks.
  func take(_ file: String) -> MessageID? { ends.withLock { $0.removeValue(forKey: file) } }

  func remember(_ message: MessageID, of file: String) {
    ends.withLock { ends in
      if ends.count >= limit { ends.removeAll(keepingCapacity: true) }
      ends[file] = message
    }
  }
}
