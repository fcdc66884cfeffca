import Foundation
import Logging
import Messages
import Settings
import Spooling

/// One line per event on standard error: logfmt or JSON. Under journald without a time of its own, with a priority.
struct LineLog: LogHandler {
  let setting: LogSetting
  let isJournal: Bool
  var metadata: Logger.Metadata = [:]
  private var least = Logger.Level.trace

  init(_ setting: LogSetting) {
    self.setting = setting
    isJournal = Self.isJournal(ProcessInfo.processInfo.environment["JOURNAL_STREAM"])
  }

  /// Never below the configuration's, which may change; a logger may keep to more important lines.
  var logLevel: Logger.Level {
    get { max(least, setting.level) }
    set { least = newValue }
  }

  /// Whether standard error is the very socket that systemd says it has connected with the journal. Children that write
  /// elsewhere inherit the variable, too.
  private static func isJournal(_ stream: String?) -> Bool {
    var status = stat()
    guard let stream, fstat(STDERR_FILENO, &status) == 0 else { return false }
    return stream == "\(status.st_dev):\(status.st_ino)"
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var fields = [("level", event.level.rawValue), ("event", event.message.description)]
    if !isJournal { fields.insert(("time", Timestamp.now().description), at: 0) }
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    // First whom it is about, then the rest by name.
    let subjects = ["request", "message"]
    fields += (subjects + all.keys.filter { !subjects.contains($0) }.sorted()).compactMap { key in
      all[key].map { (key, $0.description) }
    }
    let line = setting.format == .json ? json(fields) : fields.map { "\($0.0)=\(logfmt($0.1))" }.joined(separator: " ")
    let prefix = isJournal ? "<\(priority(event.level))>" : ""
    // One write a line, so that lines of several threads do not mix.
    StandardError.write("\(prefix)\(line)\n")
  }

  private func json(_ fields: [(String, String)]) -> String {
    (try? JSONLine.text(Dictionary(fields) { $1 })) ?? "{}"
  }

  /// Characters of a value that are written.
  private static let longest = 2_000
  /// What a value is put into quotation marks for.
  private static let quoted = Array(" \"=\\".utf8)

  private func logfmt(_ value: String) -> String {
    let safe = escaped(value.utf8.count > Self.longest ? String(value.prefix(Self.longest)) : value)
    guard safe.isEmpty || safe.utf8.contains(where: Self.quoted.contains) else { return safe }
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
