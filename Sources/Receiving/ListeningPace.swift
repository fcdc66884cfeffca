import Messages
import Settings

/// How long a network that failed a listener is left alone: as long as one that fails what is sent.
struct ListeningPace {
  let settings: Settings.Delivery
  /// The longest pause after it asked for one without saying how long, in seconds.
  private static let rest = 60.0

  /// Seconds until it is listened to again.
  ///
  /// - Parameters:
  ///   - failures: how often it failed, one after the other; 1 is the first.
  ///   - random: evenly from 0 to 1.
  func wait(after error: DeliveryError, failures: Int, random: Double) -> Double {
    let doubled = 0.5 * Double(1 << min(max(failures - 1, 0), 20))
    switch error.cause.disposition {
    // What would fail a request is the listener's own fault or the account's: somebody has to see to it.
    case .hold, .fail: return settings.mending.seconds
    case .retry where error.cause == .rateLimited:
      if let asked = error.retryAfter, asked > 0 { return min(asked, 86_400) }
      return max(0.5, min(Self.rest, doubled) * random)
    case .retry:
      return max(min(settings.probe.seconds, doubled) * (0.5 + 0.5 * random), min(error.retryAfter ?? 0, 3600))
    }
  }
}
