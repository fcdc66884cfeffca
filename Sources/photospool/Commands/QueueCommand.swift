import ArgumentParser
import Composition
import Control
import DurableFiles
import Foundation
import Ledgers
import Messages
import Spooling

struct QueueCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "queue", abstract: "Print what is waiting, like mailq.",
    discussion: """
      One line per message: the request, size, time of acceptance, state and conversation. Marks after \
      the request: * in progress, ! its conversation is held. A draft is uploaded and waits for Send. The reason for \
      waiting stands below a message in brackets. With --cluster: one line per request, with the host that accepted it \
      and the host that publishes it.
      """)

  @OptionGroup var options: SpoolOptions

  @Flag(name: .long, help: "Print one JSON object a line.")
  var json = false

  @Option(name: .long, help: "Only messages in this state, also a final one.")
  var state: MessageState?

  @Option(
    name: .long, help: ArgumentHelp("Only this conversation.", valueName: "conversation"),
    completion: Completion.conversations)
  var to: String?

  @Flag(name: .long, help: "Print what all hosts of the cluster have relayed, one line per request.")
  var cluster = false

  @Flag(name: .long, help: "Redraw it on the whole terminal until Ctrl-C.")
  var watch = false

  func validate() throws {
    if cluster && (watch || state != nil) {
      throw ValidationError("--cluster can be combined only with --json and --to; remove the other options")
    }
    if watch && (json || state != nil) {
      throw ValidationError("--watch can be combined only with --to; remove the other options")
    }
    if watch && !QueueWatch.isPossible {
      throw ValidationError("--watch needs a terminal to draw on; for a program there is `photospool queue --json`")
    }
  }

  func run() async throws {
    if cluster { return try await printCluster() }
    let spool = try options.openSpool()
    if watch { return try QueueWatch(spool: spool, conversation: to).run() }
    var daemon: ControlReply?
    var isSilent = false
    var isStopped = false
    do {
      daemon = try ControlClient.ask(.progress, in: spool.state)
      isStopped = daemon == nil
    } catch ControlError.noAnswer {
      isSilent = true
    } catch {}
    var printer = QueuePrinter(isJSON: json, progress: daemon?.progress ?? [:])
    // In the order of moves, the ledger last: a request accepted meanwhile is in both, and printed once.
    let lying = state == nil || state == .pending ? try lying(in: spool) : []
    let ledger = try LedgerView(of: spool)
    let known = try ledger?.forEachLine(state: state, conversation: to, lying: lying.map { ($0.id.inode, $0.id.born) })
    {
      try printer.print($0)
    }
    for (index, entry) in lying.enumerated() where known?[index] == nil && (to == nil || to == entry.conversation) {
      try printer.print(QueueLine(request: entry.name, conversation: entry.conversation, isDraft: entry.isDraft))
    }
    if state == .failed { try ledger?.forEachRefused(conversation: to) { try printer.print($0) } }
    printer.finish(state)
    if let to, printer.count == 0 { complainOfUnknown([to], in: spool, "nothing was ever sent there") }
    // For people; programs have the log and `check`.
    if !json, let trouble = daemon?.trouble { Swift.print("! \(escaped(trouble))") }
    if isSilent { Terminal.complain(ControlError.noAnswer.description) }
    if isStopped && printer.waiting > 0 { complainOfStopped(spool) }
    if !json, state == nil, to == nil, !isSilent { printSilent(spool) }
  }

  private func printCluster() async throws {
    let listing = try ClusterListing(options.settings())
    var (count, bytes) = (0, 0)
    func show(_ line: ClusterListing.Line) throws {
      guard to == nil || to == line.conversation else { return }
      if json { return try printJSON(line) }
      let columns = ["REQUEST", "SIZE", "ACCEPTED", "HOST", "OWNER", "CONVERSATION"]
      if count == 0 { print(Terminal.bold(QueueTable.row(columns))) }
      (count, bytes) = (count + 1, bytes + line.bytes)
      print(
        QueueTable.row([
          escaped(line.request) + (line.held ? "!" : " "), sizeInWords(line.bytes), line.acceptedAt.description,
          escaped(line.host), escaped(line.owner ?? "-"), escaped(line.conversation),
        ]))
    }
    do { try await listing.forEachLine(show) { Terminal.complain($0) } } catch {
      await listing.close()
      throw error
    }
    await listing.close()
    if json { return }
    print(count == 0 ? "Nothing is waiting in the cluster." : "-- \(counted(count, "request")), \(sizeInWords(bytes))")
  }

  /// Prints networks that should be listened to and do not answer.
  private func printSilent(_ spool: Spool) {
    for outcome in ((try? ControlClient.ask(.listening, in: spool.state))?.outcomes ?? []) where !outcome.isDone {
      Swift.print("network \(outcome.subject): \(escaped(outcome.sentence))")
    }
  }

  private struct Lying {
    let name: String
    let id: RequestIdentity
    let conversation: String?
    let isDraft: Bool
  }

  /// Entries of `draft/` and `new/`, which wait to be accepted.
  private func lying(in spool: Spool) throws -> [Lying] {
    var found = [Lying]()
    for directory in [spool.draft, spool.new] {
      for name in try directory.names() where RequestName(name) != nil {
        guard let entry = try directory.entry(name), entry.kind == .directory else { continue }
        let to = (try? directory.directory(name).file("to").contents(limit: 1_024)) ?? nil
        found.append(
          Lying(
            name: name, id: RequestIdentity(entry),
            conversation: to.map { String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .newlines) },
            isDraft: directory === spool.draft))
      }
    }
    // A draft sent meanwhile was found twice.
    let sent = Set(found.filter { !$0.isDraft }.map(\.id))
    return found.filter { !$0.isDraft || !sent.contains($0.id) }
  }
}

extension MessageState: ExpressibleByArgument {}

private struct QueuePrinter {
  let isJSON: Bool
  let progress: [String: Double]
  var count = 0
  var bytes = 0
  /// The number of printed messages that a daemon would send.
  var waiting = 0

  mutating func print(_ line: QueueLine) throws {
    var line = line
    if line.state == .uploading { line.progress = line.message.flatMap { progress[$0] } ?? 0 }
    count += 1
    if !line.state.isFinal && !line.isDraft { waiting += 1 }
    if isJSON { return try printJSON(line) }
    if count == 1 {
      Swift.print(Terminal.bold(QueueTable.row(["REQUEST", "SIZE", "ACCEPTED", "STATE", "CONVERSATION"])))
    }
    bytes += line.bytes ?? 0
    let isAtRest = line.state == .pending || line.state.isFinal || line.isDraft && line.state == .uploaded
    let mark = line.isHeld ? "!" : isAtRest ? " " : "*"
    let percent = line.progress.map { " \(Int($0 * 100)) %" } ?? ""
    let state = (line.isDraft ? "draft " : "") + line.state.rawValue + percent
    Swift.print(
      QueueTable.row([
        escaped(line.droppedAs ?? line.request) + mark, line.bytes.map(sizeInWords) ?? "-",
        line.acceptedAt?.description ?? "not yet", state, escaped(line.conversation ?? "-"),
      ]))
    if let error = line.error {
      let next = line.nextAttempt.map { "; next attempt \($0)" } ?? ""
      let reason = "    (\(escaped(error))\(next))"
      Swift.print(
        QueueTable.columns().map {
          Terminal.folded(reason.components(separatedBy: " "), separator: " ", to: $0)
        } ?? reason)
    }
  }

  func finish(_ state: MessageState?) {
    guard !isJSON else { return }
    let nothing = state?.isFinal == true ? "Nothing is \(state?.rawValue ?? "")." : "Nothing is waiting."
    Swift.print(
      count == 0 ? nothing : "-- \(counted(count, "message")), \(sizeInWords(bytes))")
  }
}

/// The rows of `queue`: the request, size, time and further words, the conversation at the end.
private enum QueueTable {
  /// The width of a terminal that is narrower than a row of so many cells; nil for a wide one.
  static func columns(cells: Int = 5) -> Int? {
    Terminal.outputColumns.flatMap { $0 < 100 + 21 * (cells - 5) ? $0 : nil }
  }

  static func row(_ cells: [String]) -> String {
    if let columns = columns(cells: cells.count) {
      return Terminal.folded(cells.map { $0.trimmingCharacters(in: .whitespaces) }, separator: "  ", to: columns)
    }
    let widths = [32, 9, 24] + Array(repeating: 20, count: cells.count - 4) + [0]
    return zip(cells, widths).map { $0 + String(repeating: " ", count: max(0, $1 - $0.count)) }.joined(separator: " ")
  }
}
