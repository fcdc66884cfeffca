import ArgumentParser
import DurableFiles
import Spooling

struct RetryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: "Send failed requests again; what of them was published is not sent twice.",
    discussion: "The same as `mv failed/NAME new/`.")

  @OptionGroup var options: SpoolOptions

  @Flag(name: .long, help: "All failed requests, in the order in which they failed.")
  var all = false

  @Argument(help: "Names of failed requests.", completion: Completion.failedRequests)
  var names: [String] = []

  func validate() throws {
    if all != names.isEmpty { throw ValidationError("give the names of failed requests, or --all") }
  }

  func run() throws {
    let spool = try options.openSpool()
    var missing = [String]()
    for name in all ? try failed(in: spool) : names {
      guard RequestName(name) != nil, try spool.failed.entry(name) != nil else {
        missing.append(name)
        continue
      }
      if try !spool.failed.move(name, to: spool.new, as: name) {
        throw Failure(.tryAgain, "new/ holds another \(name) just now; try again in a moment")
      }
      print("\(name): retried")
    }
    try spool.new.sync()
    try spool.failed.sync()
    if let first = missing.first {
      throw Failure(.noInput, "failed/ holds no \(first); see `ls \(spool.path)/failed`")
    }
  }

  private func failed(in spool: Spool) throws -> [String] {
    try spool.failed.names().compactMap { name in try spool.failed.entry(name).map { ($0.changed, name) } }
      .sorted { $0 < $1 }.map(\.1)
  }
}
