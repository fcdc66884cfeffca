import ArgumentParser
import Control
import Delivery
import Ledgers
import Metrics
import Spooling

struct MetricsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "metrics", abstract: "Print metrics in Prometheus' text format, with the daemon up or down.")

  @OptionGroup var options: SpoolOptions

  func run() throws {
    let spool = try options.openSpool()
    // A daemon that hangs is none for whoever watches.
    let daemon = (try? ControlClient.ask(.metrics, in: spool.state))??.metrics
    var families = SpoolMetrics.up(daemon != nil)
    do { families += SpoolMetrics.families(try LedgerView(in: spool.state).counts()) } catch LedgerError.missing {}
    print(families.map(\.text).joined() + (daemon ?? ""), terminator: "")
  }
}
