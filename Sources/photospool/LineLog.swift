import Foundation
import Logging
import Messages
import Settings
import Spooling

/// One line per event on standard error: logfmt or JSON. Under journald without a time of its own, with a priority.
struct LineLog: LogHandler {
  let format: Settings.Log.Format
  let isJournal: Bool
  var logLevel: Logger.Level
  var metadata: Logger.Metadata = [:]

  init(_ settings: Settings.Log) {
    format = settings.format
    isJournal = ProcessInfo.processInfo.environment["JOURNAL_STREAM"] != nil
    logLevel = Logger.Level(rawValue: settings.level.rawValue) ?? .info
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var fields = [("level", event.level.rawValue), ("event", event.message.description)]
    if !isJournal { fields.insert(("time", Timestamp.now().description), at: 0) }
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    fields += all.sorted { $0.key < $1.key }.map { ($0.key, $0.value.description) }
    let line = format == .json ? json(fields) : fields.map { "\($0.0)=\(logfmt($0.1))" }.joined(separator: " ")
    let prefix = isJournal ? "<\(priority(event.level))>" : ""
    // One write a line, so that lines of several threads do not mix.
    FileHandle.standardError.write(Data("\(prefix)\(line)\n".utf8))
  }

  private func json(_ fields: [(String, String)]) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(Dictionary(fields) { $1 }) else { return "{}" }
    return String(decoding: data, as: UTF8.self)
  }

  private func logfmt(_ value: String) -> String {
    let safe = escaped(String(value.prefix(2_000)))
    guard safe.isEmpty || safe.contains(where: { $0 == " " || $0 == "\"" || $0 == "=" || $0 == "\\" }) else {
      return safe
    }
    return "\"" + safe.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"") + "\""
  }

  /// syslog(3)'s numbers.
  private func priority(_ level: Logger.Level) -> Int {
    switch level {
    case .trace, .debug: 7
    case .info: 6
    case .notice: 5
    case .warning: 4
    case .error: 3
    case .critical: 2
    }
  }
}
