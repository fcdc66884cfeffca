import Messages

/// How long a network that failed a listener is left alone: as long as one that fails what is sent.
public struct ListeningPace: Sendable, Equatable {
  /// The longest pause while it cannot be reached, in seconds: a line that is back is listened to within this time.
  public var probe = 5.0
  /// The pause while somebody has to mend something, in seconds.
  public var mending = 300.0
  /// The longest pause after it asked for one without saying how long, in seconds.
  public var rest = 60.0

  public init() {}

  /// Seconds until it is listened to again.
  ///
  /// - Parameters:
  ///   - failures: how often it failed, one after the other; 1 is the first.
  ///   - random: evenly from 0 to 1.
  func wait(after error: DeliveryError, failures: Int, random: Double) -> Double {
    let doubled = 0.5 * Double(1 << min(max(failures - 1, 0), 20))
    switch error.cause.disposition {
    // What would fail a request is the listener's own fault or the account's: somebody has to see to it.
    case .hold, .fail: return mending
    case .retry where error.cause == .rateLimited:
      if let asked = error.retryAfter, asked > 0 { return min(asked, 86_400) }
      return max(0.5, min(rest, doubled) * random)
    case .retry: return max(min(probe, doubled) * (0.5 + 0.5 * random), min(error.retryAfter ?? 0, 3600))
    }
  }
}
