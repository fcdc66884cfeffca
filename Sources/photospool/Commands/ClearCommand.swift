import ArgumentParser
import Control
import Foundation
import Janitor
import Ledgers
import Messages
import Spooling

struct ClearCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear", abstract: "Empty the cache of photos that can be fetched again.",
    discussion: """
      Thumbnails, photos of unfinished requests, profile photos and last copies stay. The daemon clears, or this \
      command when no daemon runs.
      """)

  @OptionGroup var options: SpoolOptions

  @Option(name: .long, help: "Only photos of this inbox.")
  var inbox: String?

  @Option(name: .long, help: ArgumentHelp("Only photos of this conversation.", valueName: "conversation"))
  var to: String?

  @Flag(name: .long, help: "Change nothing, and print what would be deleted, what stays, and why.")
  var dryRun = false

  /// Seconds to wait for the daemon: many photos on a slow disk.
  private static let patience = 3600

  func run() async throws {
    umask(0o077)
    let spool = try options.openSpool()
    let inbox = try inbox.map { try InboxID($0) }
    let conversation = try to.map { try ConversationID($0) }
    if dryRun {
      let plan = try LedgerView(ifThereIsOneIn: spool.state)?.clearPlan(inbox: inbox, conversation: conversation)
      print(plan?.going ?? PhotoAmount())
      for sentence in plan?.staying ?? [] { print(sentence) }
      return
    }
    let order = ControlRequest.clear(inbox: inbox?.text, conversation: conversation?.text)
    if let reply = try ask(order, of: spool, patience: Self.patience, lookAt: "photospool storage") {
      return try report(reply)
    }
    // A daemon may start meanwhile: the ledger takes turns, and nothing here needs the spool alone.
    let ledger = try Ledger.beside(daemonOf: spool)
    let (count, _) = try await CacheClearing(spool: spool, ledger: ledger)
      .run(inbox: inbox, conversation: conversation)
    try ledger.close()
    print(count.amount)
  }
}
