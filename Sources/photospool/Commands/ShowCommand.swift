import ArgumentParser
import Composition
import Control
import DurableFiles
import Ledgers
import Messages
import Spooling

struct ShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Print one request with every message, attempt and error.")

  @OptionGroup var options: SpoolOptions

  @Flag(name: .long, help: "Print one JSON object.")
  var json = false

  @Argument(help: "The name of the request.", completion: Completion.requests)
  var name: String

  func run() throws {
    let spool = try options.openToFollow()
    // In the order of moves. The newest of that name counts.
    for directory in [spool.draft, spool.new] where RequestName(name) != nil {
      guard let entry = try directory.entry(name) else { continue }
      let ledger = try LedgerView(ifThereIsOneIn: spool.state)
      if let request = try ledger?.arriving(inode: entry.inode, born: entry.born),
        let story = try ledger?.story(of: request)
      {
        return try show(story, of: spool)
      }
      throw Failure(.tryAgain, why(directory === spool.draft, spool))
    }
    let ledger = try (LedgerView(of: spool) ?? LedgerView(in: spool.state))
    guard let request = try ledger.newest(name), let story = try ledger.story(of: request) else {
      throw Failure(.noInput, "no request \(name) is known; see `photospool queue`")
    }
    try show(story, of: spool)
  }

  /// Why the ledger does not know an entry of `new/` or `draft/`.
  private func why(_ isDraft: Bool, _ spool: Spool) -> String {
    let isRunning = (try? ControlClient.ask(.progress, in: spool.state)) != nil
    if isDraft {
      return isRunning
        ? "\(name) lies in draft/ and is not looked at yet, or cannot be sent as it is; see the daemon's log"
        : "\(name) lies in draft/ and no daemon runs; start `photospool run`"
    }
    return isRunning
      ? "\(name) lies in new/ and is just being accepted; try again in a moment"
      : "\(name) lies in new/ and is not accepted yet, as no daemon runs; start `photospool run`"
  }

  private func show(_ story: RequestStory, of spool: Spool) throws {
    var story = story
    for (index, message) in story.messages.enumerated() where message.kind == .text && message.state == .sent {
      story.messages[index].text = try spool.keptText(of: story.request, digest: message.digest)
    }
    if json { try printJSON(story) } else { print(story) }
  }

  private func print(_ story: RequestStory) {
    func row(_ label: String, _ value: String?) {
      guard let value else { return }
      Swift.print("  \(label)\(String(repeating: " ", count: max(1, 13 - label.count)))\(escaped(value))")
    }
    Swift.print("\(Terminal.bold(story.request)): \(story.state.rawValue)")
    row("dropped as", story.droppedAs == story.request ? nil : story.droppedAs)
    row("conversation", story.conversation)
    row("inbox", story.inbox.isEmpty ? nil : story.inbox)
    row("id", story.id)
    row("duplicate of", story.duplicateOf)
    row(story.state == .draft ? "dropped" : "accepted", story.acceptedAt.description)
    row("finished", story.finishedAt?.description)
    row("error", story.error)
    for message in story.messages {
      Swift.print("\n  \(escaped(message.file)): \(message.state.rawValue)")
      row("  message", message.message)
      row("  dropped", sizeInWords(message.bytes))
      row("  text", message.text)
      if let photo = message.photo {
        row("  was", "\(photo.format) \(photo.originalWidth)x\(photo.originalHeight)")
        row("  sent as", "\(photo.width)x\(photo.height), \(sizeInWords(photo.bytes))")
        row("  kept in", photo.path)
        row("  url", photo.url)
      }
      row("  sent", message.sentAt?.description)
      row("  next", message.nextAttempt?.description)
      for attempt in message.attempts {
        let end = attempt.endedAt == nil ? "running" : attempt.cause ?? (attempt.error == nil ? "done" : "interrupted")
        row(
          "  \(attempt.step) \(attempt.number)", "\(attempt.startedAt) \(end)\(attempt.error.map { ": \($0)" } ?? "")")
      }
    }
  }
}
