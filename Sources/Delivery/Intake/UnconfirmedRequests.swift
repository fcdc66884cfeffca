import Messages
import Spooling
import Synchronization

/// Requests whose files the disk did not confirm once. Their data may be lost, and a second sync could falsely succeed,
/// so they are always refused.
final class UnconfirmedRequests: Sendable {
  private let faults = Mutex<[RequestIdentity: DeliveryError]>([:])

  /// The reason for a refusal, if any.
  subscript(identity: RequestIdentity) -> DeliveryError? {
    get { faults.withLock { $0[identity] } }
    set { faults.withLock { $0[identity] = newValue } }
  }
}
