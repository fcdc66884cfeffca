import Messages
import Settings

/// The wait after a failure of a listener, with the rules of sending.
struct ListeningPace {
  let settings: Settings.Delivery
  /// The longest wait after a rate limit without a time, in seconds.
  private static let rest = 60.0

  /// The seconds to wait.
  ///
  /// - Parameters:
  ///   - failures: consecutive failures, from 1.
  ///   - random: evenly from 0 to 1.
  func wait(after error: DeliveryError, failures: Int, random: Double) -> Double {
    let doubled = 0.5 * Double(1 << min(max(failures - 1, 0), 20))
    switch error.cause.disposition {
    // A permanent error concerns the listener or the account: somebody has to fix it.
    case .hold, .fail: return settings.mending.seconds
    case .retry where error.cause == .rateLimited:
      if let asked = error.retryAfter, asked > 0 { return min(asked, 86_400) }
      return max(0.5, min(Self.rest, doubled) * random)
    case .retry:
      return max(min(settings.probe.seconds, doubled) * (0.5 + 0.5 * random), min(error.retryAfter ?? 0, 3600))
    }
  }
}
