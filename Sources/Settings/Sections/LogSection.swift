import SettingKit

extension Settings {
  public struct Log: SettingsSection {
    public var level = Level.info
    public var format = Format.logfmt

    /// From everything to nearly nothing. The raw values are swift-log's.
    public enum Level: String, CaseIterable, Sendable { case trace, debug, info, notice, warning, error }
    public enum Format: String, CaseIterable, Sendable { case logfmt, json }

    package init() {}

    package static let rows: [Setting<Log>] = [
      Setting("level", \.level, .word, "The least important lines that are logged"),
      Setting("format", \.format, .word, "How a line of the log is written"),
    ]
  }
}
