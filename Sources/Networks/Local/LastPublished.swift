import Messages
import Synchronization

/// The last messages of files whose ends this process wrote, so that it need not read them. Bounded; other files are
/// read again.
final class LastPublished: Sendable {
  private let limit: Int
  private let ends = Mutex<[String: MessageID]>([:])

  init(limit: Int) { self.limit = limit }

  /// Takes the last message of `file`; nil if unknown. It stays unknown until it is remembered again, so that after an
  /// error the next call reads the file.
  func take(_ file: String) -> MessageID? { ends.withLock { $0.removeValue(forKey: file) } }

  func remember(_ message: MessageID, of file: String) {
    ends.withLock { ends in
      if ends.count >= limit { ends.removeAll(keepingCapacity: true) }
      ends[file] = message
    }
  }
}
