import ArgumentParser
import Composition
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
    let spool = try options.openSpool()
    var failure: Failure?
    for names in expanded(names).orders {
      do { try await carryOut(.cancel(names), on: spool) } catch let error as Failure { failure = failure ?? error }
    }
    if let failure { throw failure }
  }
}
