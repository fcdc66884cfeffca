import ArgumentParser
import Control

struct CancelCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Cancel requests, as far as they are not published.",
    discussion: "Exit status 69 when something was too late; what was published stays published.")

  @OptionGroup var options: SpoolOptions

  @Argument(help: "Names of requests.", completion: Completion.waitingRequests)
  var names: [String]

  func run() async throws { try await carryOut(.cancel(names), on: options.openSpool()) }
}
