import SettingKit

/// A relation between two settings.
struct SettingsRule: Sendable {
  let lower: String
  let upper: String
  /// Whether the lower one is at most the upper one.
  let holds: @Sendable (Settings) -> Bool

  static let all = [
    SettingsRule(lower: "photo.worstQuality", upper: "photo.bestQuality") {
      $0.photo.limits.worstQuality <= $0.photo.limits.bestQuality
    },
    SettingsRule(lower: "delivery.backoff.first", upper: "delivery.backoff.longest") {
      $0.delivery.backoff.first <= $0.delivery.backoff.longest
    },
  ]

  /// The error, reported where one of the two was set, if any.
  func problem(in settings: Settings) -> SettingsProblem? {
    if holds(settings) { return nil }
    let blamed = settings.origin(of: lower) == .byDefault ? upper : lower
    return SettingsProblem(
      place: settings.origin(of: blamed).description,
      sentence: "`\(lower)` (\(text(of: lower, in: settings))) is above `\(upper)` (\(text(of: upper, in: settings)))")
  }

  private func text(of key: String, in settings: Settings) -> String {
    SettingsSchema.setting(key)?.text(in: settings) ?? ""
  }
}
