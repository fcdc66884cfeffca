import Messages
import Spooling
import Synchronization

/// Requests whose files the disk did not confirm once. What the kernel holds of such a file may be lost already, and a
/// second sync is answered with a false success, so that they are refused whenever they are met again.
final class UnconfirmedRequests: Sendable {
  private let faults = Mutex<[RequestIdentity: DeliveryError]>([:])

  /// Why the request is refused; nil for one that was never met.
  subscript(identity: RequestIdentity) -> DeliveryError? {
    get { faults.withLock { $0[identity] } }
    set { faults.withLock { $0[identity] = newValue } }
  }
}
