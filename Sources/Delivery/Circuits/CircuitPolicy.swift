import Messages
import Settings

/// Which failures concern all conversations of a destination, and how long it is left alone.
package struct CircuitPolicy: Sendable {
  let settings: Settings.Delivery

  package init(_ settings: Settings.Delivery = Settings().delivery) { self.settings = settings }

  /// The longest pause after a rate limit without a time, in seconds.
  private static let longestRest = 60.0
  /// The largest part of `probe` used for a pause. The rest is for the probe and the messages after it.
  private static let share = 0.8

  /// Whether the failure concerns the destination and not just the message.
  func concernsAll(_ cause: Cause) -> Bool {
    switch cause {
    case .unreachable, .network, .timeout, .rateLimited, .authExpired, .accountDisabled, .configError: true
    default: false
    }
  }

  /// Whether the failure may end with an outage of this machine's network.
  func isOfTheLine(_ cause: Cause) -> Bool { cause == .unreachable || cause == .network || cause == .timeout }

  /// After this many refusals of conversations in a row, somebody has to fix the destination. It is then probed as
  /// rarely as a single conversation would.
  static let manyRefusals = 10

  /// Whether somebody has to fix a destination with this last error after this many failed probes.
  func refusesEverybody(_ error: DeliveryError, failures: Int) -> Bool {
    error.cause.disposition == .hold && failures > Self.manyRefusals
  }

  /// The seconds until the next probe by a conversation that was not refused.
  ///
  /// - Parameters:
  ///   - error: the error of the last probe.
  ///   - failures: failed probes in a row, from 1.
  ///   - random: evenly from 0 to 1.
  func pause(after error: DeliveryError, failures: Int, random: Double) -> Double {
    if refusesEverybody(error, failures: failures) { return settings.mending.seconds }
    // Half of it is random, so that many programs do not probe together.
    return min(settings.probe.seconds * Self.share, Self.doubled(failures)) * (0.5 + 0.5 * random)
  }

  /// The seconds until a refused conversation may probe again.
  func rest(after error: DeliveryError, failures: Int) -> Double {
    switch error.cause {
    case _ where error.cause.disposition == .hold: settings.mending.seconds
    case .rateLimited: min(error.retryAfter ?? min(Self.longestRest, Self.doubled(failures)), 86_400)
    default: 0
    }
  }

  private static func doubled(_ failures: Int) -> Double { 0.5 * Double(1 << min(max(failures - 1, 0), 20)) }
}

/// The conversations that a destination refuses while it may work for others. A refusal concerns all only after a
/// second conversation gets the same answer with no success in between. A success proves that earlier refusals concern
/// only their own conversations.
struct Refusals: Sendable {
  /// Conversations refused since the last success, and why.
  private var latest: [Int64: Cause] = [:]
  /// Conversations refused while others succeeded. They do not count for others until they succeed.
  private var own: Set<Int64> = []

  /// Adds a failure. Returns whether it concerns all conversations of the destination.
  mutating func add(_ conversation: Int64, _ cause: Cause, _ policy: CircuitPolicy) -> Bool {
    // Nothing was sent, so the message cannot be at fault.
    if cause == .unreachable { return true }
    let isOfTheLine = policy.isOfTheLine(cause)
    if !isOfTheLine && own.contains(conversation) { return false }
    latest[conversation] = cause
    return latest.contains { other, met in
      other != conversation && (met == cause || isOfTheLine && policy.isOfTheLine(met))
    }
  }

  /// Records a success.
  mutating func gotThrough(_ conversation: Int64, _ policy: CircuitPolicy) {
    if !latest.isEmpty {
      own.formUnion(latest.filter { !policy.isOfTheLine($0.value) }.keys)
      latest = [:]
    }
    if !own.isEmpty { own.remove(conversation) }
  }

  func contains(_ conversation: Int64) -> Bool { latest[conversation] != nil || own.contains(conversation) }

  /// All refused conversations.
  var conversations: Set<Int64> { own.union(latest.keys) }
}
