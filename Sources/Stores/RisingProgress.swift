import Synchronization

/// Combines the progress of requests into that of one upload: never falling, and 1 only after the store's confirmation.
final class RisingProgress: Sendable {
  private let furthest = Mutex(-1.0)
  private let report: @Sendable (Double) -> Void
  /// The progress after everything is sent, before the confirmation.
  private static let sent = 0.95

  init(_ report: @escaping @Sendable (Double) -> Void) {
    self.report = report
    rise(to: 0)
  }

  /// Records the sent share of a request's body.
  func sent(_ fraction: Double) { rise(to: fraction * Self.sent) }

  /// Records the store's confirmation.
  func end() { rise(to: 1) }

  private func rise(to fraction: Double) {
    furthest.withLock { furthest in
      guard fraction > furthest else { return }
      furthest = fraction
      report(fraction)
    }
  }
}
