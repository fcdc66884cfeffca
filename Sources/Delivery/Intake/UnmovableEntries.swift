import Spooling
import Synchronization

/// Requests in `new/` that we may not take. They were refused, and stay there until their owner changes them.
final class UnmovableEntries: Sendable {
  private let changed = Mutex<[RequestIdentity: Int64]>([:])

  /// More of them are forgotten, and refused again.
  private static let most = 10_000

  /// Notes a request as it is now.
  func add(_ identity: RequestIdentity, changed time: Int64) {
    changed.withLock { changed in
      if changed.count >= Self.most { changed = [:] }
      changed[identity] = time
    }
  }

  /// Whether it is as it was when it was refused.
  func has(_ identity: RequestIdentity, changed time: Int64) -> Bool { changed.withLock { $0[identity] == time } }
}
