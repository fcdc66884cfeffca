import ArgumentParser
import Control

struct ReleaseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "release", abstract: "Resume publishing in held conversations.")

  @OptionGroup var options: SpoolOptions

  @Argument(
    help: ArgumentHelp("Conversations; - reads them from standard input, one a line.", valueName: "conversation"),
    completion: Completion.heldConversations)
  var conversations: [String]

  func run() async throws {
    let spool = try options.openSpool()
    try await carryOut(each: conversations, on: spool) { .release($0) }
  }
}
