import Messages
import SettingKit

extension Settings {
  /// How long the janitor keeps things.
  package struct Janitor: SettingsSection {
    package var tmp = Duration.hours(36)
    package var drafts = Duration.days(1)
    package var receipts = Duration.days(7)
    package var failed = Duration.days(30)
    package var announced = Duration.days(90)

    package init() {}

    package static let rows: [Setting<Janitor>] = [
      Setting("tmp", \.tmp, age, "How long an entry of tmp/ may be left alone"),
      Setting("drafts", \.drafts, age, "How long a draft may be left alone"),
      Setting("receipts", \.receipts, age, "How long receipts are kept"),
      Setting("failed", \.failed, age, "How long failed requests are kept, and what could not be received"),
      Setting("announced", \.announced, age, "How long a photo that others announced can be fetched"),
    ]

    private static let age = SettingKind<Duration>.duration(.seconds(1) ... .days(3650))
  }
}
