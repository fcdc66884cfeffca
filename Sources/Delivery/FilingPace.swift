/// When requests that are over are filed: at once, unless very many end while others are still being published. Those
/// get the processors and the disk first, and the receipts follow in larger crowds, which share more of their syncs.
struct FilingPace {
  /// For how long receipts wait for what is being published, at most.
  static let patience = Duration.seconds(5)
  /// Requests of a round, and how many of them a second, that are very many.
  static let crowd = 16
  static let rate = 250.0

  private var last: ContinuousClock.Instant
  private var due: ContinuousClock.Instant

  init(at now: ContinuousClock.Instant = .now) {
    last = now
    due = now
  }

  /// A round has filed so many.
  mutating func filed(_ count: Int, at now: ContinuousClock.Instant) {
    let isCrowd = count >= Self.crowd && Double(count) >= Self.rate * ((now - last) / .seconds(1))
    last = now
    due = isCrowd ? now + Self.patience : now
  }

  /// Seconds until the next round, while something is being published; nil when it is due.
  func wait(at now: ContinuousClock.Instant) -> Double? { now < due ? (due - now) / .seconds(1) : nil }
}
