import SettingKit

extension Settings {
  package struct Log: SettingsSection {
    package var level = Level.info
    package var format = Format.logfmt

    /// Raw values are swift-log's.
    package enum Level: String, CaseIterable, Sendable { case trace, debug, info, notice, warning, error }
    package enum Format: String, CaseIterable, Sendable { case logfmt, json }

    package init() {}

    package static let rows: [Setting<Log>] = [
      Setting("level", \.level, .word, "The least important lines that are logged"),
      Setting("format", \.format, .word, "How a line of the log is written"),
    ]
  }
}
