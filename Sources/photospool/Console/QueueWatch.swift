import CKernel
import Control
import Foundation
import Ledgers
import Messages
import Spooling

/// The changing queue: for each conversation the reason for waiting, and its first messages with their progress.
struct QueueWatch {
  let spool: Spool
  let conversation: String?

  /// Seconds between two redraws.
  private static let interval = 0.5
  private static let barWidth = 20

  static var isPossible: Bool {
    Terminal.outputIsTerminal && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  /// Redraws until a signal ends the process or the terminal is gone, in the terminal's current size.
  func run() throws {
    var ledger: LedgerView?
    while true {
      if ledger == nil { ledger = try LedgerView(ifReadable: spool.state) }
      let (columns, height) = Terminal.size(of: STDOUT_FILENO)
      // The last row stays free for the cursor and the shell's prompt.
      let rows = max(1, (height > 0 ? height : 24) - 1)
      draw(try lines(ledger, rows: rows).prefix(rows), columns: columns > 0 ? columns : 80)
      if ckernel_output_failed() { return }
      Thread.sleep(forTimeInterval: Self.interval)
    }
  }

  /// Draws the lines from the top, the first in bold, and clears the rest. Long lines are cut off.
  private func draw(_ lines: ArraySlice<String>, columns: Int) {
    let fitting = lines.enumerated().map { index, line in
      let shown = Self.cut(line, to: columns)
      return "\(index == 0 ? Terminal.bold(shown) : shown)\u{1b}[K\n"
    }
    // Without wrapping, because the width of a character is a guess.
    print("\u{1b}[H\u{1b}[?7l" + fitting.joined() + "\u{1b}[?7h\u{1b}[J", terminator: "")
  }

  private static func cut(_ line: String, to columns: Int) -> String {
    var left = columns
    return String(
      line.prefix { character in
        left -= Terminal.width(String(character))
        return left >= 0
      })
  }

  private func lines(_ ledger: LedgerView?, rows: Int) throws -> [String] {
    let answer = (try? ControlClient.ask(.progress, in: spool.state)) ?? nil
    let counts = try ledger?.counts()
    let waiting = counts?.waiting.values.reduce(0, +) ?? 0
    let state = answer == nil ? "; no daemon answers" : ""
    let heading =
      "\(counted(waiting, "message waits", "messages wait")) in "
      + "\(counted(counts?.conversations ?? 0, "conversation"))\(state)"
    var lines = [heading, ""]
    guard let ledger else { return lines + ["Nothing was ever accepted here."] }
    // At least the name and one message of each.
    let room = max(2, rows - lines.count - 1)
    let found = try ledger.waitingConversations(limit: room / 2, only: conversation)
    let each = max(1, room / max(1, found.count) - 1)
    for conversation in found {
      lines.append(escaped(conversation.name) + Self.reason(conversation))
      for message in try ledger.firstMessages(of: conversation, limit: each) {
        lines.append(line(message, upload: message.message.flatMap { answer?.progress[$0] } ?? 0))
      }
    }
    let hidden = (counts?.conversations ?? 0) - found.count
    if hidden > 0 && conversation == nil { lines.append("and \(hidden) more") }
    return lines
  }

  private func line(_ message: QueueLine, upload: Double) -> String {
    let share = message.state.share(upload: upload)
    let percent = message.state == .uploading ? " \(Int(upload * 100)) %" : ""
    return "  \(Terminal.bar(share, width: Self.barWidth)) \(message.state.rawValue)\(percent)  \(message.request)"
      + "  \(message.kind?.rawValue ?? "-"), \(sizeInWords(message.bytes ?? 0))"
  }

  /// Why the conversation waits; empty if it does not.
  private static func reason(_ conversation: WaitingConversation) -> String {
    let more = conversation.waiting == 1 ? "" : ", \(conversation.waiting) messages"
    let error = conversation.error.map { ": \(escaped($0))" } ?? ""
    if conversation.isHeld { return "\(more), held; `photospool release` lets it go on" }
    if let destination = conversation.waitsFor { return "\(more), waits for \(escaped(destination))\(error)" }
    let wait = conversation.nextAttempt.map { $0.seconds(since: .now()) } ?? 0
    if wait > 0 { return "\(more), tried again in \(Int(wait.rounded(.up))) s\(error)" }
    return more
  }
}
