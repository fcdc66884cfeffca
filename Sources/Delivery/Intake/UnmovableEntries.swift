import Spooling
import Synchronization

/// Refused requests in `new/` that the daemon may not move. They stay until their owner changes them.
final class UnmovableEntries: Sendable {
  private let changed = Mutex<[RequestIdentity: Int64]>([:])

  /// More are forgotten, and refused again.
  private static let most = 10_000

  /// Notes a request in its present state.
  func add(_ identity: RequestIdentity, changed time: Int64) {
    changed.withLock { changed in
      if changed.count >= Self.most { changed = [:] }
      changed[identity] = time
    }
  }

  /// Whether it is unchanged since its refusal.
  func has(_ identity: RequestIdentity, changed time: Int64) -> Bool { changed.withLock { $0[identity] == time } }
}
