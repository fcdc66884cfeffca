import CKernel
import Foundation
import Glibc

/// The whole terminal, while a command draws on it. What was there before comes back, however the command ends.
final class Screen {
  enum Event {
    /// The time is up, or the terminal has another size.
    case redraw
    /// The user wants to go.
    case quit
  }

  /// Whether there is a terminal to draw on, and keys to hear.
  static var isPossible: Bool {
    Terminal.outputIsTerminal && isatty(STDIN_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  private static let endings = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

  private var before = termios()
  private let signals: Int32

  init() throws {
    signals = ckernel_signal_pipe()
    guard signals >= 0, tcgetattr(STDIN_FILENO, &before) == 0 else {
      throw Failure(.inputOutput, "the terminal does not obey: \(String(cString: strerror(errno)))")
    }
    for signal in Self.endings + [SIGWINCH, SIGTSTP] { ckernel_tell_signal(signal) }
    enter()
  }

  /// Lines and columns; what is usual when the terminal does not tell.
  var size: (rows: Int, columns: Int) {
    let rows = Int(ckernel_terminal_rows(STDOUT_FILENO))
    let columns = Int(ckernel_terminal_columns(STDOUT_FILENO))
    return (rows > 0 ? rows : 24, columns > 0 ? columns : 80)
  }

  /// Draws the lines from the top, the first one in bold; what does not fit is cut off.
  func draw(_ lines: [String]) {
    let size = size
    let fitting = lines.prefix(size.rows).map { Self.cut($0, to: size.columns) }
    let shown = fitting.enumerated().map { "\($0 == 0 ? Terminal.bold($1) : $1)\u{1b}[K" }
    write("\u{1b}[H" + shown.joined(separator: "\r\n") + "\u{1b}[J")
  }

  /// Waits for a key, a signal or `seconds`. A signal that ends programs ends this one, with the terminal as it was.
  func wait(seconds: Double) -> Event {
    var sources = [
      pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
      pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&sources, 2, Int32(seconds * 1000)) > 0 else { return .redraw }
    var byte: UInt8 = 0
    while read(signals, &byte, 1) == 1 { obey(Int32(byte)) }
    guard sources[0].revents != 0 else { return .redraw }
    guard read(STDIN_FILENO, &byte, 1) == 1 else { return .quit }
    return byte == UInt8(ascii: "q") || byte == UInt8(ascii: "Q") ? .quit : .redraw
  }

  /// Gives the terminal back.
  func leave() {
    write("\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l")
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before)
  }

  private func obey(_ signal: Int32) {
    if signal == SIGTSTP {
      leave()
      Glibc.signal(SIGTSTP, SIG_DFL)
      raise(SIGTSTP)
      // Here it goes on.
      ckernel_tell_signal(SIGTSTP)
      enter()
    } else if Self.endings.contains(signal) {
      leave()
      Glibc.signal(signal, SIG_DFL)
      raise(signal)
    }
  }

  /// Another screen than the one of the shell, no cursor, no line that wraps; keys as they are pressed.
  private func enter() {
    var raw = before
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw)
    write("\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l")
  }

  /// Signs from Hangul on are counted as two columns, which most of them have; should that be wrong, the terminal
  /// still wraps nothing.
  private static func cut(_ line: String, to columns: Int) -> String {
    var left = columns
    return String(
      line.prefix { sign in
        left -= (sign.unicodeScalars.first?.value ?? 0) >= 0x1100 ? 2 : 1
        return left >= 0
      })
  }

  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.write(STDOUT_FILENO, $0.baseAddress.map { $0 + written }, bytes.count - written)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return }
      written += count
    }
  }
}
