import ArgumentParser
import Control

struct CancelCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Cancel the messages of requests that are not published yet.",
    discussion: "Exit status 69 if it was too late for a message; published messages stay published.")

  @OptionGroup var options: SpoolOptions

  @Argument(
    help: ArgumentHelp("Names of requests; - reads them from standard input, one a line.", valueName: "name"),
    completion: Completion.waitingRequests)
  var names: [String]

  func run() async throws {
    try await carryOut(each: names, on: options.openSpool()) { .cancel($0) }
  }
}
