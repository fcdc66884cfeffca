import ArgumentParser
import Composition
import DurableFiles
import Foundation
import Janitor
import Ledgers
import Messages
import Spooling

struct ClearCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear", abstract: "Empty the cache of photos that can be fetched again.",
    discussion: "Thumbnails, photos of unfinished requests and last copies stay.")

  @OptionGroup var options: SpoolOptions

  @Option(name: .long, help: "Only photos of this inbox.")
  var inbox: String?

  @Option(name: .long, help: ArgumentHelp("Only photos of this conversation.", valueName: "conversation"))
  var to: String?

  @Flag(name: .long, help: "Change nothing, and print what would be deleted.")
  var dryRun = false

  func run() async throws {
    umask(0o077)
    let (settings, spool) = try options.configured()
    let inbox = try inbox.map { try InboxID($0) }
    let conversation = try to.map { try ConversationID($0) }
    if dryRun {
      let count = try LedgerView(ifThereIsOneIn: spool.state)?.clearable(inbox: inbox, conversation: conversation)
      return say(photos: count?.photos ?? 0, bytes: count?.bytes ?? 0)
    }
    // A running janitor ends soon.
    let turn = try SpoolJanitor.turn(on: spool, waits: true)
    defer { turn?.release() }
    let reserve = Reserve(spool)
    try reserve.give()
    defer { reserve.take() }
    let ledger = try Ledger.beside(daemonOf: spool)
    let count = try await settings.makeJanitor(spool, ledger)
      .clear(inbox: inbox, conversation: conversation)
    try ledger.close()
    say(photos: count.photos, bytes: count.bytes)
  }

  private func say(photos: Int, bytes: Int) {
    print("\(counted(photos, "photo")), \(sizeInWords(bytes))")
  }
}
