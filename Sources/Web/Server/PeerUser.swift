import Synchronization

/// The user at the other end of one connection. The kernel is asked until it answers, and not again: the user of a
/// connection never changes.
final class PeerUser: Sendable {
  private let user = Mutex<UInt32?>(nil)

  /// - Parameter ask: asks the kernel; nil without an answer.
  func known(_ ask: () -> UInt32?) -> UInt32? {
    user.withLock { user in
      user = user ?? ask()
      return user
    }
  }
}
