import ArgumentParser
import Control

struct FlushCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "flush", abstract: "Try everything that waits for a retry now.")

  @OptionGroup var options: SpoolOptions

  func run() async throws {
    let spool = try options.openSpool()
    try await carryOut(.flush, on: spool)
    complainIfStopped(spool)
  }
}
