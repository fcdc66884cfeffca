import ArgumentParser
import Control
import DurableFiles
import Foundation
import Janitor
import Ledgers
import Messages
import Spooling

struct QueueCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "queue", abstract: "Print what is waiting, like mailq.",
    discussion: """
      One line per message: the request, size, time of acceptance, conversation and state. A mark behind the request \
      tells more: * being worked on, ! its conversation is held. A draft is uploaded and waits for Send. The reason \
      why something waits stands below it in brackets.
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

  @Flag(name: .long, help: "Show it on the whole terminal, as it changes, until Ctrl-C.")
  var watch = false

  func validate() throws {
    if watch && (json || state != nil) { throw ValidationError("--watch goes with --to alone; take away the others") }
    if watch && !QueueWatch.isPossible {
      throw ValidationError("--watch needs a terminal to draw on; for a program there is `photospool queue --json`")
    }
  }

  func run() throws {
    let spool = try options.openSpool()
    if watch { return try QueueWatch(spool: spool, conversation: to).run() }
    var daemon: ControlReply?
    var isSilent = false
    do { daemon = try ControlClient.ask(.progress, in: spool.state) } catch ControlError.noAnswer {
      isSilent = true
    } catch {}
    var printer = QueuePrinter(isJSON: json, progress: daemon?.progress ?? [:])
    // In the order in which requests move, the ledger last: what is accepted meanwhile is in both, and is printed once.
    let lying = state == nil || state == .pending ? try lying(in: spool) : []
    let ledger = try LedgerView(of: spool)
    let known = try ledger?.forEachLine(state: state, conversation: to, lying: lying.map { ($0.id.inode, $0.id.born) })
    {
      try printer.print($0)
    }
    for (index, entry) in lying.enumerated() where known?[index] == nil && (to == nil || to == entry.conversation) {
      try printer.printNew(entry.name, conversation: entry.conversation, isDraft: entry.isDraft)
    }
    if state == .failed { try ledger?.forEachRefused(conversation: to) { try printer.print($0) } }
    printer.finish(state)
    if let to, printer.isEmpty { complainOfUnknown([to], in: spool, "nothing was ever sent there") }
    // For people; programs have the log and `check`.
    if !json, let trouble = daemon?.trouble { Swift.print("! \(escaped(trouble))") }
    if isSilent { Terminal.complain(ControlError.noAnswer.description) }
    if !json, state == nil, to == nil, !isSilent { printSilent(spool) }
  }

  /// Networks that are to be listened to and from which nothing comes just now.
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

  /// What lies in `draft/` or `new/` is waiting too, although nobody looked at it yet.
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
    // One that was sent meanwhile was found twice.
    let sent = Set(found.filter { !$0.isDraft }.map(\.id))
    return found.filter { !$0.isDraft || !sent.contains($0.id) }
  }
}

extension MessageState: ExpressibleByArgument {}

/// Prints the lines of `queue` one by one.
private struct QueuePrinter {
  /// The keys are never renamed once released.
  private struct Line: Encodable {
    let request: String
    let message: String?
    let conversation: String?
    let inbox: String?
    let kind: String?
    let state: String
    let progress: Double?
    let attempts: Int
    let nextAttempt: String?
    let error: String?
    let acceptedAt: String?
    let bytes: Int?
    /// Of what was refused, which may have had a name that is no request's.
    var droppedAs: String?

    private enum CodingKeys: CodingKey {
      case request, message, conversation, inbox, kind, state, progress, attempts, nextAttempt, error, acceptedAt, bytes
      case droppedAs
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(request, forKey: .request)
      try container.encode(message, forKey: .message)
      try container.encode(conversation, forKey: .conversation)
      try container.encode(inbox, forKey: .inbox)
      try container.encode(kind, forKey: .kind)
      try container.encode(state, forKey: .state)
      try container.encode(progress, forKey: .progress)
      try container.encode(attempts, forKey: .attempts)
      try container.encode(nextAttempt, forKey: .nextAttempt)
      try container.encode(error, forKey: .error)
      try container.encode(acceptedAt, forKey: .acceptedAt)
      try container.encode(bytes, forKey: .bytes)
      try container.encodeIfPresent(droppedAs, forKey: .droppedAs)
    }
  }

  let isJSON: Bool
  let progress: [String: Double]
  private var count = 0
  private var bytes = 0
  /// Of a terminal too narrow for the table.
  private let columns = Terminal.outputColumns.flatMap { $0 < 100 ? $0 : nil }

  var isEmpty: Bool { count == 0 }

  init(isJSON: Bool, progress: [String: Double]) {
    self.isJSON = isJSON
    self.progress = progress
  }

  mutating func print(_ line: QueueLine) throws {
    let isAtRest = line.state == .pending || line.state.isFinal || line.isDraft && line.state == .uploaded
    let share = line.state == .uploading ? progress[line.message.text] ?? 0 : nil
    try print(
      Line(
        request: line.request, message: line.message.text, conversation: line.conversation, inbox: line.inbox,
        kind: line.kind.rawValue, state: line.state.rawValue, progress: share, attempts: line.attempts,
        nextAttempt: line.nextAttempt?.description, error: line.error, acceptedAt: line.acceptedAt.description,
        bytes: line.bytes),
      mark: line.isHeld ? "!" : isAtRest ? " " : "*", isDraft: line.isDraft)
  }

  mutating func printNew(_ name: String, conversation: String?, isDraft: Bool) throws {
    try print(
      Line(
        request: name, message: nil, conversation: conversation, inbox: nil, kind: nil,
        state: MessageState.pending.rawValue, progress: nil, attempts: 0, nextAttempt: nil, error: nil, acceptedAt: nil,
        bytes: nil),
      mark: " ", isDraft: isDraft)
  }

  /// What was refused has no message.
  mutating func print(_ refused: RefusedRequest) throws {
    try print(
      Line(
        request: refused.request, message: nil, conversation: refused.conversation, inbox: refused.inbox, kind: nil,
        state: MessageState.failed.rawValue, progress: nil, attempts: 0, nextAttempt: nil, error: refused.error,
        acceptedAt: refused.refusedAt.description, bytes: refused.bytes, droppedAs: refused.droppedAs),
      mark: " ", isDraft: false)
  }

  private mutating func print(_ line: Line, mark: String, isDraft: Bool) throws {
    count += 1
    if isJSON { return try printJSON(line) }
    if count == 1 { Swift.print(Terminal.bold(row("REQUEST", "SIZE", "ACCEPTED", "STATE", "CONVERSATION"))) }
    bytes += line.bytes ?? 0
    let progress = line.progress.map { "\(line.state) \(Int($0 * 100)) %" } ?? line.state
    let state = isDraft ? "draft \(progress)" : progress
    Swift.print(
      row(
        escaped(line.droppedAs ?? line.request) + mark, line.bytes.map(Terminal.bytes) ?? "-",
        line.acceptedAt ?? "not yet", state,
        escaped(line.conversation ?? "-")))
    if let error = line.error {
      let next = line.nextAttempt.map { "; next attempt \($0)" } ?? ""
      let reason = "    (\(escaped(error))\(next))"
      Swift.print(
        columns.map {
          Terminal.folded(reason.components(separatedBy: " "), separator: " ", to: $0)
        } ?? reason)
    }
  }

  private func row(_ request: String, _ size: String, _ time: String, _ state: String, _ to: String) -> String {
    if let columns {
      let name = request.trimmingCharacters(in: .whitespaces)
      return Terminal.folded([name, size, time, state, to], separator: "  ", to: columns)
    }
    func pad(_ text: String, _ width: Int) -> String {
      text + String(repeating: " ", count: max(0, width - text.count))
    }
    return "\(pad(request, 32)) \(pad(size, 9)) \(pad(time, 24)) \(pad(state, 20)) \(to)"
  }

  func finish(_ state: MessageState?) {
    guard !isJSON else { return }
    let nothing = state?.isFinal == true ? "Nothing is \(state?.rawValue ?? "")." : "Nothing is waiting."
    Swift.print(
      count == 0 ? nothing : "-- \(count) message\(count == 1 ? "" : "s"), \(Terminal.bytes(bytes))")
  }
}
