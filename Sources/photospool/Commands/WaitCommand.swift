import ArgumentParser

struct WaitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait", abstract: "Wait until requests are sent.",
    discussion: "Exit status: 0 all are sent, 69 one failed or was cancelled, 75 the time is up.")

  @OptionGroup var options: SpoolOptions

  @Option(
    name: .long,
    help: ArgumentHelp("How long to wait at most, as 90, 90s, 5m or 2h. (default: no limit)", valueName: "time"))
  var timeout: TimeLimit?

  @Flag(name: .long, help: "Wait only until the cluster's queue has them; they then survive the loss of this host.")
  var relayed = false

  @Argument(help: ArgumentHelp("Names of requests.", valueName: "name"), completion: Completion.waitingRequests)
  var names: [String]

  func run() async throws {
    try await Waiting(spool: options.openToFollow(), untilRelayed: relayed)
      .wait(for: names, timeout: timeout?.seconds)
  }
}
