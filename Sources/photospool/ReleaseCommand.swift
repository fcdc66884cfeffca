import ArgumentParser
import Control

struct ReleaseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "release", abstract: "Let publishing in held conversations go on.")

  @OptionGroup var options: SpoolOptions

  @Argument(help: "Conversations.", completion: Completion.heldConversations)
  var conversations: [String]

  func run() async throws { try await carryOut(.release(conversations), on: options.openSpool()) }
}
