import CKernel
import Foundation
import Messages
import Spooling

/// What is said to people: data on standard output, talk on standard error, both plain when nobody looks.
enum Terminal {
  static let outputIsTerminal = isatty(STDOUT_FILENO) == 1
  static let errorIsTerminal = isatty(STDERR_FILENO) == 1

  /// Whether standard output may be coloured: a terminal that can, and nobody who objects.
  static var hasColour: Bool {
    let environment = ProcessInfo.processInfo.environment
    return outputIsTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
  }

  /// Of a sentence, in characters: what it names may be of any length.
  static let longest = 4_000

  /// Writes a sentence of complaint to standard error.
  static func complain(_ sentence: String) {
    for line in sentence.split(separator: "\n") { say("photospool: \(escaped(String(line.prefix(longest))))") }
  }

  /// Writes a line to standard error.
  static func say(_ line: String) { StandardError.write("\(line)\n") }

  /// Draws `line` over the last line of standard error, for progress.
  static func redraw(_ line: String) { StandardError.write("\r\u{1b}[K\(line)") }

  /// Columns of the terminal that standard error is; 80 when it does not tell.
  static var columns: Int {
    let columns = Int(ckernel_terminal_columns(STDERR_FILENO))
    return columns > 0 ? columns : 80
  }

  /// Columns of the terminal that standard output is; nil when it is none, or does not tell.
  static let outputColumns: Int? = {
    let columns = outputIsTerminal ? Int(ckernel_terminal_columns(STDOUT_FILENO)) : 0
    return columns > 0 ? columns : nil
  }()

  /// `words` in as many lines as it takes so that none is longer than `columns`; all but the first are indented. A word
  /// that is longer by itself is left to the terminal.
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

  /// How many columns `text` takes. Signs from Hangul on are counted as two, which most of them have.
  static func width(_ text: some StringProtocol) -> Int {
    text.reduce(0) { $0 + (($1.unicodeScalars.first?.value ?? 0) >= 0x1100 ? 2 : 1) }
  }

  /// `[####----]`, with `width` signs between the brackets.
  static func bar(_ share: Double, width: Int) -> String {
    let filled = Int((min(1, max(0, share)) * Double(width)).rounded(.down))
    return "[" + String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled) + "]"
  }

  /// `text` in bold on a terminal.
  static func bold(_ text: String) -> String { hasColour ? "\u{1b}[1m\(text)\u{1b}[0m" : text }

  /// How long ago something was, for people: `40s`, `5m`, `7h`, `12d`.
  static func age(since then: Timestamp) -> String {
    let seconds = max(0, (Timestamp.now().milliseconds - then.milliseconds) / 1000)
    return switch seconds {
    case ..<60: "\(seconds)s"
    case ..<3_600: "\(seconds / 60)m"
    case ..<86_400: "\(seconds / 3_600)h"
    default: "\(seconds / 86_400)d"
    }
  }

  /// A number of bytes for people: `512 B`, `1.2 MB`.
  static func bytes(_ count: Int) -> String { sizeInWords(count) }
}
