import Foundation
import Logging
import Messages
import Settings
import Signalling

/// A line per event on standard error, as logfmt or JSON. For journald it has a priority and no time.
package struct LineLog: LogHandler {
  let setting: LogSetting
  let isJournal: Bool
  package var metadata: Logger.Metadata = [:]
  private var least = Logger.Level.trace

  package init(_ setting: LogSetting) {
    self.setting = setting
    isJournal = Self.isJournal(ProcessInfo.processInfo.environment["JOURNAL_STREAM"])
  }

  /// At least the configured level, which may change; a logger may have a higher one.
  package var logLevel: Logger.Level {
    get { max(least, Logger.Level(rawValue: setting.now.level.rawValue) ?? .info) }
    set { least = newValue }
  }

  /// Whether standard error is the journal's socket. Child processes inherit the variable, even if they write
  /// elsewhere.
  private static func isJournal(_ stream: String?) -> Bool {
    var status = stat()
    guard let stream, fstat(STDERR_FILENO, &status) == 0 else { return false }
    return stream == "\(status.st_dev):\(status.st_ino)"
  }

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    var fields = isJournal ? [] : [("time", Timestamp.now().description)]
    fields += [("level", event.level.rawValue), ("event", event.message.description)]
    var all = event.metadata ?? [:]
    if !metadata.isEmpty { all.merge(metadata) { own, _ in own } }
    // Request and message first, then the rest by name.
    for subject in ["request", "message"] {
      if let value = all.removeValue(forKey: subject) { fields.append((subject, value.description)) }
    }
    fields += all.sorted { $0.key < $1.key }.map { ($0.key, $0.value.description) }
    var line = isJournal ? Array("<\(priority(event.level))>".utf8) : []
    switch setting.now.format {
    case .json: line += ((try? JSONLine.text(Dictionary(fields) { $1 })) ?? "{}").utf8
    case .logfmt: appendLogfmt(fields, to: &line)
    }
    line.append(UInt8(ascii: "\n"))
    // One write per line, so that lines of threads do not mix.
    StandardError.write(line)
  }

  /// The longest value, in characters.
  private static let longest = 2_000

  // Bytes, because joining strings takes three times as long.
  private func appendLogfmt(_ fields: [(String, String)], to line: inout [UInt8]) {
    for (index, (name, value)) in fields.enumerated() {
      if index > 0 { line.append(UInt8(ascii: " ")) }
      line += name.utf8
      line.append(UInt8(ascii: "="))
      let safe = escaped(value.utf8.count > Self.longest ? String(value.prefix(Self.longest)) : value)
      if !safe.isEmpty && !safe.utf8.contains(where: Self.isQuoted) {
        line += safe.utf8
        continue
      }
      line.append(UInt8(ascii: "\""))
      for byte in safe.utf8 {
        if Self.isEscaped(byte) { line.append(UInt8(ascii: "\\")) }
        line.append(byte)
      }
      line.append(UInt8(ascii: "\""))
    }
  }

  /// Whether a byte needs quotation marks.
  private static func isQuoted(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "=") || isEscaped(byte)
  }

  /// Whether a byte needs a backslash in quotation marks.
  private static func isEscaped(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") }

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

/// The current log settings, shared by all loggers.
package typealias LogSetting = InForce<Settings.Log>
