import ArgumentParser
import Delivery
import Foundation
import Logging
import Spooling

struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run the daemon in the foreground; SIGTERM finishes what is in hand and stops.")

  @OptionGroup var options: SpoolOptions

  func run() async throws {
    let settings = try options.settings()
    // A log reader that goes away must not take the daemon with it.
    signal(SIGPIPE, SIG_IGN)
    // What the daemon makes is its own; directories for clients get their permissions by name.
    umask(0o077)
    let handler = LineLog(settings.log)
    LoggingSystem.bootstrap { _ in handler }
    let log = Logger(label: "photospool")
    if geteuid() == 0 { log.warning("running as root; a user of its own is safer") }
    let spool = try Spool(creating: settings.spool.directory)
    let assembly = Assembly(settings: settings)
    let connections = Connections(settings, spool: spool) { log.info("network says", metadata: ["line": "\($0)"]) }
    let darkroom = assembly.darkroom()
    defer { darkroom.close() }
    let daemon = try await Daemon(
      spool: spool, options: assembly.options, destinations: connections.destinations(),
      preparer: darkroom, log: log)
    try await daemon.run(signals: [.sigterm, .sigint])
  }
}
