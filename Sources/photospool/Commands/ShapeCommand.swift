import ArgumentParser
import Ledgers
import Messages
import Spooling

struct ShapeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shape", abstract: "Print the age of the queue, conversations against age in minutes, like qshape.")

  @OptionGroup var options: SpoolOptions

  @Flag(name: .long, help: "Print one JSON object a line: conversation, total, buckets of atLeast minutes and count.")
  var json = false

  /// A line of `shape --json`. Keys are never renamed once released.
  private struct Line: Encodable {
    struct Bucket: Encodable {
      /// Minutes; the next bucket begins where this one ends.
      let atLeast: Int
      let count: Int
    }

    let conversation: String
    let total: Int
    let buckets: [Bucket]
  }

  private static let minutes = [5, 10, 20, 40, 80, 160, 320, 640, 1280]

  func run() throws {
    let spool = try options.openSpool()
    let rows = try LedgerView(in: spool.state).shape(minutes: Self.minutes, at: .now())
    if json {
      for (conversation, counts) in rows {
        let buckets = zip([0] + Self.minutes, counts).map { Line.Bucket(atLeast: $0, count: $1) }
        try printJSON(Line(conversation: conversation, total: counts.reduce(0, +), buckets: buckets))
      }
      return
    }
    let labels = Self.minutes.map(String.init) + ["\(Self.minutes[Self.minutes.count - 1])+"]
    let total = labels.indices.map { column in rows.reduce(0) { $0 + $1.counts[column] } }
    let width = min(40, max(12, rows.map { $0.conversation.count }.max() ?? 0))
    func line(_ name: String, _ cells: [String]) -> String {
      let padded = cells.map { String(repeating: " ", count: max(1, 7 - $0.count)) + $0 }.joined()
      return String(repeating: " ", count: max(0, width - name.count)) + name + padded
    }
    print(Terminal.bold(line("", ["T"] + labels)))
    for (name, counts) in [("TOTAL", total)] + rows.map({ (escaped($0.conversation), $0.counts) }) {
      print(line(name, ["\(counts.reduce(0, +))"] + counts.map(String.init)))
    }
  }
}
