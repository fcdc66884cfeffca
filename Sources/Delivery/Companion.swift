import Messages
import ServiceLifecycle
import Spooling

/// What runs beside delivery on the same spool and ledger, and is told what concerns it: the receiving of photos.
public struct Companion: Sendable {
  /// Stops after intake and before what it depends on.
  let service: any Service
  /// Something was seen in `incoming/new/`, or may have been missed there. It must return quickly.
  let post: @Sendable (SpoolEvent) -> Void
  /// A photo may be wanted now.
  let wake: @Sendable () -> Void
  /// Lets go of all that is in hand of a conversation that is being purged.
  let release: @Sendable (ConversationID) async -> Void

  public init(
    service: any Service, post: @escaping @Sendable (SpoolEvent) -> Void, wake: @escaping @Sendable () -> Void,
    release: @escaping @Sendable (ConversationID) async -> Void
  ) {
    self.service = service
    self.post = post
    self.wake = wake
    self.release = release
  }
}
