import Messages
import Settings

extension Cause {
  /// Whether such a failure concerns the destination and not just the message.
  var concernsAll: Bool {
    switch self {
    case .unreachable, .network, .timeout, .rateLimited, .authExpired, .accountDisabled, .configError: true
    default: false
    }
  }

  /// Whether such a failure may end with an outage of this machine's network.
  var isOfTheLine: Bool { self == .unreachable || self == .network || self == .timeout }
}

/// How long a destination is left alone.
extension Settings.Delivery {
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
    if refusesEverybody(error, failures: failures) { return mending.seconds }
    // A fifth of the time is for the probe and the messages after it. Half of the pause is random, so that many programs
    // do not probe together.
    return min(probe.seconds * 0.8, Self.doubled(failures)) * (0.5 + 0.5 * random)
  }

  /// The seconds until a refused conversation may probe again.
  func rest(after error: DeliveryError, failures: Int) -> Double {
    switch error.cause {
    case _ where error.cause.disposition == .hold: mending.seconds
    case .rateLimited: min(error.retryAfter ?? min(60, Self.doubled(failures)), 86_400)
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
  mutating func add(_ conversation: Int64, _ cause: Cause) -> Bool {
    // Nothing was sent, so the message cannot be at fault.
    if cause == .unreachable { return true }
    if !cause.isOfTheLine && own.contains(conversation) { return false }
    latest[conversation] = cause
    return latest.contains { other, met in
      other != conversation && (met == cause || cause.isOfTheLine && met.isOfTheLine)
    }
  }

  mutating func gotThrough(_ conversation: Int64) {
    if !latest.isEmpty {
      own.formUnion(latest.filter { !$0.value.isOfTheLine }.keys)
      latest = [:]
    }
    if !own.isEmpty { own.remove(conversation) }
  }

  func contains(_ conversation: Int64) -> Bool { latest[conversation] != nil || own.contains(conversation) }

  var conversations: Set<Int64> { own.union(latest.keys) }
}
