import ArgumentParser
import Control

struct HoldCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hold", abstract: "Stop publishing in conversations; nothing is lost meanwhile.")

  @OptionGroup var options: SpoolOptions

  @Argument(help: "Conversations.", completion: Completion.otherConversations)
  var conversations: [String]

  func run() async throws { try await carryOut(.hold(conversations), on: options.openSpool()) }
}
