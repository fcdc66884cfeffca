import Settings

/// The mails that each rule took within the last hour, and those that wait because there were too many.
struct MailAllowance {
  typealias Rules = Set<MailRule>

  private static let hour = Duration.seconds(3600)

  /// In order.
  private var taken: [MailRule: [ContinuousClock.Instant]] = [:]
  private var waiting: [[UInt8]: Rules] = [:]
  /// The waiting mails of each rule.
  private var counts: [MailRule: Int] = [:]

  /// Forgets waiting mails that are gone.
  mutating func keep(_ names: Set<[UInt8]>) {
    for name in waiting.keys where !names.contains(name) { remove(name) }
  }

  /// Whether a mail has to wait further; it need not be parsed.
  func isWaiting(_ name: [UInt8], perHour: Int, now: ContinuousClock.Instant) -> Bool {
    waiting[name].map { !hasRoom($0, perHour, now) } ?? false
  }

  /// Whether a mail may be taken now. Otherwise it waits.
  ///
  /// - Parameter isScan: all mails are looked at in their order. Otherwise waiting ones come first.
  mutating func admit(
    _ name: [UInt8], for rules: Rules, perHour: Int, isScan: Bool, now: ContinuousClock.Instant
  ) -> Bool {
    remove(name)
    guard perHour > 0 else { return true }
    let isBehind = !isScan && rules.contains { (counts[$0] ?? 0) > 0 }
    guard !isBehind, hasRoom(rules, perHour, now) else {
      waiting[name] = rules
      for rule in rules { counts[rule, default: 0] += 1 }
      return false
    }
    return true
  }

  /// Counts a mail that was taken for its rules. No more are remembered than may be taken, so none without a limit.
  mutating func took(_ rules: Rules, perHour: Int, now: ContinuousClock.Instant) {
    for rule in rules { taken[rule] = ((taken[rule] ?? []) + [now]).suffix(perHour) }
  }

  private func hasRoom(_ rules: Rules, _ perHour: Int, _ now: ContinuousClock.Instant) -> Bool {
    perHour == 0
      || rules.allSatisfy { rule in
        (taken[rule] ?? []).count { $0 + Self.hour > now } < perHour
      }
  }

  private mutating func remove(_ name: [UInt8]) {
    guard let rules = waiting.removeValue(forKey: name) else { return }
    for rule in rules { counts[rule, default: 1] -= 1 }
  }
}
