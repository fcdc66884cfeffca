import ArgumentParser
import Control

struct FlushCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "flush", abstract: "Try everything that waits for a retry now.")

  @OptionGroup var options: SpoolOptions

  func run() async throws { try await carryOut(.flush, on: options.openSpool()) }
}
