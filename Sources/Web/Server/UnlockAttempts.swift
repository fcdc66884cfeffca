import Synchronization

/// How often somebody has tried the password of a session lately.
final class UnlockAttempts: Sendable {
  private static let most = 5
  private static let period = Duration.seconds(60)
  private let times = Mutex([String: [ContinuousClock.Instant]]())

  /// Counts an attempt at the session of this id; false if there were too many within a minute.
  func begin(_ session: String, at now: ContinuousClock.Instant = .now) -> Bool {
    times.withLock { times in
      times = times.compactMapValues { times in
        let late = times.filter { now - $0 < Self.period }
        return late.isEmpty ? nil : late
      }
      guard times[session, default: []].count < Self.most else { return false }
      times[session, default: []].append(now)
      return true
    }
  }
}
