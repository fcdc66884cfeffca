import ArgumentParser
import Composition
import DurableFiles
import Foundation
import Janitor
import Ledgers
import Messages
import Spooling

struct PurgeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "purge", abstract: "Delete all data of conversations, now.",
    discussion: """
      Waiting messages are cancelled; cached photos, drafts, receipts, failed requests, rows of the ledger and the \
      file of the local network are deleted. Published messages stay published. A file in purge/ that names the \
      conversations, one a line, does the same. The order is on the disk before anything is deleted; the daemon \
      carries it out, or this command when no daemon runs. Exit status 75 if it takes longer than --timeout; the purge \
      is then still completed.
      """)

  @OptionGroup var options: SpoolOptions

  @Option(name: .long, help: ArgumentHelp("How long to wait for the daemon, as 90, 90s, 5m or 2h.", valueName: "time"))
  var timeout = TimeLimit(seconds: 60)

  @Flag(name: .long, help: "Change nothing, and print what would be deleted.")
  var dryRun = false

  @Argument(
    help: ArgumentHelp("Conversations; - reads them from standard input, one a line.", valueName: "conversation"))
  var conversations: [String]

  func run() async throws {
    umask(0o077)
    let (settings, spool) = try options.configured()
    let named = try expanded(conversations).map { try ConversationID($0) }
    if dryRun { return try rehearse(named, in: spool) }
    let reserve = Reserve(spool)
    try reserve.give()
    defer { reserve.take() }
    // Read before the purge, after which nothing is known.
    let view = try? LedgerView(ifThereIsOneIn: spool.state)
    let unknown = try named.filter { try view?.conversations(beginning: $0.text, limit: 1).first != $0.text }
    let orders = PurgeOrders(spool)
    try orders.add(named)
    let end = ContinuousClock.now + .seconds(timeout.seconds)
    while try orders.read().conversations.contains(where: named.contains) {
      if let claim = try spool.claim(briefly: true) {
        defer { claim.release() }
        let ledger = try Ledger(of: spool, isClaimed: true)
        let purge = settings.makePurge(spool, ledger)
        _ = try await purge.run(purge.ordered().conversations)
        try ledger.close()
        break
      }
      if ContinuousClock.now >= end {
        throw Failure(
          .tryAgain, "the daemon has not purged yet; the order stands in \(spool.path)/purge and will be carried out")
      }
      try await Task.sleep(for: .milliseconds(20))
    }
    for conversation in named {
      let remark = unknown.contains(conversation) ? "; the ledger knew no conversation of that name" : ""
      print("\(escaped(conversation.text)): purged\(remark)")
    }
  }

  private func rehearse(_ conversations: [ConversationID], in spool: Spool) throws {
    let view = try LedgerView(ifThereIsOneIn: spool.state)
    for name in conversations.map(\.text) {
      var (messages, photos, bytes) = (0, 0, 0)
      try view?.forEachLine(conversation: name) { _ in messages += 1 }
      try view?.forEachPhoto(inbox: nil, conversation: name) { photo in
        photos += 1
        bytes += photo.bytes
      }
      let isKnown = try view?.conversations(beginning: name, limit: 1) == [name]
      print(
        "\(escaped(name)): " + (isKnown ? "" : "the ledger knows no conversation of that name; ")
          + "\(messages) waiting and \(photos) photos (\(sizeInWords(bytes)) in the cache) would go")
    }
  }
}
