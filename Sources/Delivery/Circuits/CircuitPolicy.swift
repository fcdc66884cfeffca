import Messages
import Settings

/// Which failures concern all who use a destination, and how long it is left alone.
package struct CircuitPolicy: Sendable {
  let settings: Settings.Delivery

  package init(_ settings: Settings.Delivery = Settings().delivery) { self.settings = settings }

  /// The longest pause after a destination asked for one without saying how long, in seconds.
  private static let longestRest = 60.0
  /// The part of `probe` that a pause takes at most. The rest is for the probe itself, and for those behind it.
  private static let share = 0.8

  /// The failure says something of the destination, and little of the message.
  func concernsAll(_ cause: Cause) -> Bool {
    switch cause {
    case .unreachable, .network, .timeout, .rateLimited, .authExpired, .accountDisabled, .configError: true
    default: false
    }
  }

  /// What fails like this may work as soon as the network of this machine does.
  func isOfTheLine(_ cause: Cause) -> Bool { cause == .unreachable || cause == .network || cause == .timeout }

  /// So many conversations that are refused one after the other, with no success between, say that it is the destination
  /// which somebody has to mend. It is asked as seldom then as each of them asks.
  static let manyRefusals = 10

  /// Whether a destination whose last probe failed so, and so many before it, has to be mended by somebody.
  func refusesEverybody(_ error: DeliveryError, failures: Int) -> Bool {
    error.cause.disposition == .hold && failures > Self.manyRefusals
  }

  /// Seconds until the next probe by a conversation that was not refused.
  ///
  /// - Parameters:
  ///   - error: how the last probe failed.
  ///   - failures: probes that failed, one after the other; 1 is the first.
  ///   - random: evenly from 0 to 1.
  func pause(after error: DeliveryError, failures: Int, random: Double) -> Double {
    if refusesEverybody(error, failures: failures) { return settings.mending.seconds }
    // Half of it is certain, so that many programs do not probe together, and none does so all the time.
    return min(settings.probe.seconds * Self.share, Self.doubled(failures)) * (0.5 + 0.5 * random)
  }

  /// Seconds until a conversation that was refused may be the probe again.
  func rest(after error: DeliveryError, failures: Int) -> Double {
    switch error.cause {
    case _ where error.cause.disposition == .hold: settings.mending.seconds
    case .rateLimited: min(error.retryAfter ?? min(Self.longestRest, Self.doubled(failures)), 86_400)
    default: 0
    }
  }

  private static func doubled(_ failures: Int) -> Double { 0.5 * Double(1 << min(max(failures - 1, 0), 20)) }
}

/// Whom a destination failed though it may work for others.
///
/// An answer that one conversation gets says nothing of the others. It concerns all once a second conversation has met the
/// same, with no success between; and a success proves of those who were refused before it that the refusal is their own.
struct Refusals: Sendable {
  /// Those who were failed since the last success, and why.
  private var latest: [Int64: Cause] = [:]
  /// Those who were refused while others got through. They count for nobody else until they get through.
  private var own: Set<Int64> = []

  /// A destination failed a conversation.
  ///
  /// - Returns: whether that concerns all who use it.
  mutating func add(_ conversation: Int64, _ cause: Cause, _ policy: CircuitPolicy) -> Bool {
    // Nothing was sent, so that nothing of the message can be at fault.
    if cause == .unreachable { return true }
    let isOfTheLine = policy.isOfTheLine(cause)
    if !isOfTheLine && own.contains(conversation) { return false }
    latest[conversation] = cause
    return latest.contains { other, met in
      other != conversation && (met == cause || isOfTheLine && policy.isOfTheLine(met))
    }
  }

  /// The destination did what a conversation asked for.
  mutating func gotThrough(_ conversation: Int64, _ policy: CircuitPolicy) {
    if !latest.isEmpty {
      own.formUnion(latest.filter { !policy.isOfTheLine($0.value) }.keys)
      latest = [:]
    }
    if !own.isEmpty { own.remove(conversation) }
  }

  func contains(_ conversation: Int64) -> Bool { latest[conversation] != nil || own.contains(conversation) }

  /// All of them.
  var conversations: Set<Int64> { own.union(latest.keys) }
}
