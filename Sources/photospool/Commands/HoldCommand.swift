import ArgumentParser
import Control
import Ledgers
import Messages
import Spooling

struct HoldCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hold", abstract: "Stop publishing in conversations; nothing is lost meanwhile.",
    discussion: "Without arguments it prints the conversations that are held, one a line.")

  @OptionGroup var options: SpoolOptions

  @Argument(
    help: ArgumentHelp("Conversations; - reads them from standard input, one a line.", valueName: "conversation"),
    completion: Completion.otherConversations)
  var conversations: [String] = []

  func run() async throws {
    let spool = try options.openSpool()
    if conversations.isEmpty {
      let held =
        try LedgerView(ifThereIsOneIn: spool.state)?.conversations(beginning: "", held: true, limit: .max) ?? []
      for conversation in held { print(escaped(conversation)) }
      return
    }
    try await carryOut(each: conversations, on: spool) { names in
      complainOfUnknown(names, in: spool, "it is held all the same")
      return .hold(names)
    }
  }
}

/// Warns of conversations that no request was ever sent to: a name may be misspelt, and `*` is not a pattern. It says
/// nothing if the ledger is unreadable, as before an upgrade.
func complainOfUnknown(_ conversations: [String], in spool: Spool, _ consequence: String) {
  do {
    let ledger = try LedgerView(ifThereIsOneIn: spool.state)
    for name in conversations where try ledger?.conversations(beginning: name, limit: 1) != [name] {
      Terminal.complain("\(escaped(name)): no conversation of this name is known; \(consequence)")
    }
  } catch {}
}
