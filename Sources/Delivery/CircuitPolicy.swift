import Messages

/// Which failures concern all who use a destination, and how long it is left alone.
public struct CircuitPolicy: Sendable {
  /// The longest pause between two probes of a destination that cannot be reached, in seconds: a line that is back is
  /// used within this time.
  public var longestProbe = 5.0
  /// The pause between two probes of a destination that somebody has to mend, in seconds.
  public var mending = 300.0
  /// The longest pause after a destination asked for one without saying how long, in seconds.
  public var longestRest = 60.0

  /// The failure says something of the destination, and little of the message.
  func concernsAll(_ cause: Cause) -> Bool {
    switch cause {
    case .unreachable, .network, .timeout, .rateLimited, .authExpired, .accountDisabled, .configError: true
    default: false
    }
  }

  /// The message was surely not published, so that its attempt need not count.
  func isUnsent(_ cause: Cause) -> Bool { concernsAll(cause) && cause != .network && cause != .timeout }

  /// What fails like this may work as soon as the network of this machine does.
  func isOfTheLine(_ cause: Cause) -> Bool { cause == .unreachable || cause == .network || cause == .timeout }

  /// Seconds until the next probe.
  ///
  /// - Parameters:
  ///   - failures: probes that failed, one after the other; 1 is the first.
  ///   - random: evenly from 0 to 1.
  func wait(after error: DeliveryError, failures: Int, random: Double) -> Double {
    let doubled = 0.5 * Double(1 << min(max(failures - 1, 0), 20))
    switch error.cause.disposition {
    case .hold: return mending
    case .retry where error.cause == .rateLimited:
      if let asked = error.retryAfter, asked > 0 { return min(asked, 86_400) }
      return max(0.5, min(longestRest, doubled) * random)
    default:
      // Half of it is certain, so that many programs do not probe together, and none does so all the time.
      return min(longestProbe, doubled) * (0.5 + 0.5 * random)
    }
  }
}
