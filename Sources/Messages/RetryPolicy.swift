/// The wait before the next attempt: exponential backoff with full jitter. Source: "Exponential Backoff And Jitter",
/// AWS Architecture Blog, 2015. A wait drawn evenly from zero to the current bound spreads many clients best.
package struct RetryPolicy: Sendable, Equatable {
  /// The bound of the first wait.
  package var first: Duration
  /// The longest wait, unless the other side asks for more.
  package var longest: Duration

  package init(first: Duration = .seconds(1), longest: Duration = .minutes(5)) {
    self.first = first
    self.longest = longest
  }

  /// The seconds to wait after attempt `attempt` (from 1) failed with `error`.
  ///
  /// - Parameter random: evenly from 0 to 1.
  package func delay(after error: DeliveryError, attempt: Int, random: Double) -> Double {
    let first = first.seconds
    let bound = min(longest.seconds, first * Double(1 << min(max(attempt - 1, 0), 30)))
    let jittered = max(bound * random, first / 10)
    guard let asked = error.retryAfter, asked > 0 else { return jittered }
    // A server may ask for more than our longest wait, but not for years.
    return max(jittered, min(asked, 86_400))
  }
}
