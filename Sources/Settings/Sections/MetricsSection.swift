import Messages
import SettingKit

extension Settings {
  package struct Metrics: SettingsSection {
    package var textfile: String?
    package var pause = Duration.seconds(15)

    package init() {}

    package static let rows: [Setting<Metrics>] = [
      Setting(
        "textfile", \.textfile, .optional(.textfile), "The file that the daemon writes its metrics to; empty is none"),
      Setting(
        "pause", \.pause, .duration(.seconds(1) ... .hours(1)),
        "How long the daemon rests between two reports of metrics and status"),
    ]
  }
}
