import Synchronization

/// Makes of the progress of one or more requests the progress of one upload: never falling, and 1 only once the store
/// has confirmed it.
final class RisingProgress: Sendable {
  private let furthest = Mutex(-1.0)
  private let report: @Sendable (Double) -> Void
  /// How far an upload has come when all is sent and the store has yet to confirm it.
  private static let sent = 0.95

  init(_ report: @escaping @Sendable (Double) -> Void) {
    self.report = report
    rise(to: 0)
  }

  /// A request has sent this share of its body.
  func sent(_ fraction: Double) { rise(to: fraction * Self.sent) }

  /// The store keeps the object.
  func end() { rise(to: 1) }

  private func rise(to fraction: Double) {
    furthest.withLock { furthest in
      guard fraction > furthest else { return }
      furthest = fraction
      report(fraction)
    }
  }
}
