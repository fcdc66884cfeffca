import Messages
import SettingKit

extension Settings {
  package struct Intake: SettingsSection {
    package var rescan = Duration.seconds(30)
    package var settle = Duration.seconds(5)

    package init() {}

    package static let rows: [Setting<Intake>] = [
      Setting(
        "rescan", \.rescan, .duration(.milliseconds(100) ... .days(1)),
        "How often the whole of new/ is read, in case that a notice of the kernel was lost"),
      Setting(
        "settle", \.settle, .duration(.milliseconds(100) ... .hours(1)),
        "How long an entry that was built in new/ has to be left alone before it is taken"),
    ]
  }
}
