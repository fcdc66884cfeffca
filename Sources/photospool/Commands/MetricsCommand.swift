import ArgumentParser
import Control
import Ledgers
import Settings
import SpoolMetering
import Spooling

struct MetricsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "metrics", abstract: "Print metrics in Prometheus' text format, with the daemon up or down.")

  @OptionGroup var options: SpoolOptions

  func run() throws {
    let (settings, spool) = try options.configured()
    // A daemon that hangs counts as none.
    let daemon = (try? ControlClient.ask(.metrics, in: spool.state, patience: 5))??.metrics
    let counts = try LedgerView(ifThereIsOneIn: spool.state)?.counts()
    print(SpoolMetrics.text(counts, settings.cache, daemon: daemon), terminator: "")
  }
}
