import ArgumentParser
import Composition
import Foundation
import Messages
import WebAccess

struct WebPasswordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "password", abstract: "Give a session of another computer a password.",
    discussion: """
      The page asks for it when the session was not used for 12 hours. It is read twice from the terminal, or once from \
      standard input.
      """)

  @OptionGroup var options: SpoolOptions

  @Flag(name: .long, help: "Remove the password.")
  var remove = false

  @Argument(help: ArgumentHelp("The session, as in `photospool web sessions`.", valueName: "id"))
  var session: String

  func run() throws {
    let access = try AccessStore(try options.openSpool())
    guard let entry = try access.entries(at: .now()).first(where: { $0.id == session && !$0.isLink }) else {
      throw Failure(.noInput, "there is no session '\(escaped(session))'; `photospool web sessions` lists them")
    }
    guard entry.user == nil else {
      throw Failure(.usage, "the session \(session) belongs to a user of this computer, and needs no password")
    }
    let password = remove ? nil : try Self.read()
    guard try access.setPassword(password, ofSession: session) else {
      throw Failure(.noInput, "the session \(session) has just ended")
    }
  }

  private static let shortest = 8
  private static let longest = 1024

  private static func read() throws -> String {
    let isTerminal = isatty(STDIN_FILENO) == 1
    guard let password = isTerminal ? hidden("Password: ") : readLine(), !password.isEmpty else {
      throw Failure(.usage, "there is no password on standard input; type or pipe one line")
    }
    if isTerminal, hidden("Again: ") != password {
      throw Failure(.usage, "the two passwords differ; nothing was changed")
    }
    guard !password.unicodeScalars.contains(where: { $0.value < 32 }) else {
      throw Failure(.usage, "a password has no control characters; nothing was changed")
    }
    guard (shortest...longest).contains(password.utf8.count) else {
      throw Failure(.usage, "a password has \(shortest) to \(longest) bytes; nothing was changed")
    }
    return password
  }

  /// A line that the terminal does not show.
  private static func hidden(_ question: String) -> String? {
    var former = termios()
    let isKnown = tcgetattr(STDIN_FILENO, &former) == 0
    var silent = former
    // Ctrl-C would leave the terminal like this; it becomes a character, which no password has.
    silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
    if isKnown { tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) }
    defer { if isKnown { tcsetattr(STDIN_FILENO, TCSAFLUSH, &former) } }
    FileHandle.standardError.write(Data(question.utf8))
    let line = readLine()
    FileHandle.standardError.write(Data("\n".utf8))
    return line
  }
}
