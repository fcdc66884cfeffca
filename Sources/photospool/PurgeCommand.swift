import ArgumentParser
import DurableFiles
import Foundation
import Janitor
import Ledgers
import Messages
import Spooling

struct PurgeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "purge", abstract: "Delete all that is held of conversations, now.",
    discussion: """
      What waits is cancelled; cached photos, drafts, receipts, failed requests, rows of the ledger and the file of the \
      local network are deleted. What was published stays published. The same as a file in purge/ that names the \
      conversations, one a line; the order stands on the disk before anything is deleted, and is carried out by the \
      daemon, or here when none runs. Exit status 75 when that is not done within --timeout; it will be.
      """)

  @OptionGroup var options: SpoolOptions

  @Option(name: .long, help: "Seconds to wait for the daemon.")
  var timeout = 60.0

  @Argument(help: "Conversations.")
  var conversations: [String]

  func run() async throws {
    umask(0o077)
    let settings = try options.settings()
    let spool = try Spool(opening: settings.spool.directory)
    let named = try conversations.map { try ConversationID($0) }
    let reserve = Reserve(spool)
    try reserve.give()
    defer { reserve.take() }
    // Asked before, since afterwards nothing is known of any of them.
    let view = try? LedgerView(ifThereIsOneIn: spool.state)
    let unknown = try named.filter { try view?.conversations(beginning: $0.text, limit: 1).first != $0.text }
    let orders = PurgeOrders(spool)
    try orders.add(named)
    let end = ContinuousClock.now + .seconds(timeout)
    while try orders.read().conversations.contains(where: named.contains) {
      if let claim = try spool.claim(briefly: true) {
        defer { claim.release() }
        let ledger = try Ledger(of: spool, isClaimed: true)
        let purge = Assembly(settings: settings).purge(spool, ledger)
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
}
