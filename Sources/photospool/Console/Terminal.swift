import Foundation
import LogOutput
import Messages

/// Output for people: results on standard output, the rest on standard error, both plain without a terminal.
enum Terminal {
  static let outputIsTerminal = isatty(STDOUT_FILENO) == 1
  static let errorIsTerminal = isatty(STDERR_FILENO) == 1

  /// Whether standard output is a terminal with colours, and `NO_COLOR` is not set.
  static var hasColour: Bool {
    let environment = ProcessInfo.processInfo.environment
    return outputIsTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
  }

  /// The longest sentence in characters, because names may have any length.
  static let longest = 4_000

  /// Writes an error or warning to standard error.
  static func complain(_ sentence: String) {
    for line in sentence.split(separator: "\n") { say("photospool: \(escaped(String(line.prefix(longest))))") }
  }

  static func say(_ line: String) { StandardError.write("\(line)\n") }

  /// Draws `line` over the last line of standard error.
  static func redraw(_ line: String) { StandardError.write("\r\u{1b}[K\(line)") }

  /// The size of a terminal in characters; 0 if unknown.
  static func size(of terminal: Int32) -> (columns: Int, rows: Int) {
    var size = winsize()
    return ioctl(terminal, UInt(TIOCGWINSZ), &size) == 0 ? (Int(size.ws_col), Int(size.ws_row)) : (0, 0)
  }

  /// The columns of standard output's terminal; nil if unknown.
  static let outputColumns: Int? = {
    let columns = outputIsTerminal ? size(of: STDOUT_FILENO).columns : 0
    return columns > 0 ? columns : nil
  }()

  /// `words` folded into lines of at most `columns`, indented after the first. A longer word stays whole.
  static func folded(_ words: [String], separator: String, to columns: Int) -> String {
    var lines = [String]()
    for word in words {
      if let last = lines.last, width(last + separator + word) <= columns {
        lines[lines.count - 1] = last + separator + word
      } else {
        lines.append(lines.isEmpty ? word : "    " + word)
      }
    }
    return lines.joined(separator: "\n")
  }

  /// The columns of `text`. Characters from Hangul on count as two, which is usually right.
  static func width(_ text: some StringProtocol) -> Int {
    text.reduce(0) { $0 + (($1.unicodeScalars.first?.value ?? 0) >= 0x1100 ? 2 : 1) }
  }

  /// `[####----]` with `width` characters between the brackets.
  static func bar(_ share: Double, width: Int) -> String {
    let filled = Int((min(1, max(0, share)) * Double(width)).rounded(.down))
    return "[" + String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled) + "]"
  }

  static func bold(_ text: String) -> String { hasColour ? "\u{1b}[1m\(text)\u{1b}[0m" : text }

  /// The age for people: `40s`, `5m`, `7h`, `12d`.
  static func age(since then: Timestamp) -> String {
    let seconds = max(0, (Timestamp.now().milliseconds - then.milliseconds) / 1000)
    return switch seconds {
    case ..<60: "\(seconds)s"
    case ..<3_600: "\(seconds / 60)m"
    case ..<86_400: "\(seconds / 3_600)h"
    default: "\(seconds / 86_400)d"
    }
  }
}

/// Prints one JSON object on a line.
func printJSON(_ value: some Encodable) throws { print(try JSONLine.text(value)) }
