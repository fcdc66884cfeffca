import Messages
import SettingKit

extension Settings {
  /// The limits of the photo cache.
  package struct Cache: SettingsSection {
    package var inbox = 500_000_000
    package var total = 1_000_000_000
    package var remote = Duration.days(30)

    package init() {}

    package static let rows: [Setting<Cache>] = [
      Setting("inbox", \.inbox, .bytes(0...1_000_000_000_000_000), "How much of the cache one inbox may have"),
      Setting("total", \.total, .bytes(0...1_000_000_000_000_000), "How much the cache may have in all"),
      Setting(
        "remote", \.remote, .duration(.seconds(1) ... .days(36_500)),
        "How long after its upload a photo counts as one that can be fetched again"),
    ]
  }
}
