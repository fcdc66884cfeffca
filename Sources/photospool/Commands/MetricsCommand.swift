import ArgumentParser
import Control
import Delivery
import Ledgers
import MetricText
import Settings
import Spooling

struct MetricsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "metrics", abstract: "Print metrics in Prometheus' text format, with the daemon up or down.")

  @OptionGroup var options: SpoolOptions

  func run() throws {
    let (settings, spool) = try options.configured()
    // A daemon that hangs counts as none.
    let daemon = (try? ControlClient.ask(.metrics, in: spool.state, patience: 5))??.metrics
    var families = SpoolMetrics.up(daemon != nil)
    if let counts = try LedgerView(ifThereIsOneIn: spool.state)?.counts() {
      families += SpoolMetrics.families(counts, settings.cache)
    }
    print(families.map(\.text).joined() + (daemon ?? ""), terminator: "")
  }
}
