import ArgumentParser
import CKernel
import Composition
import Foundation
import LogOutput
import Logging
import UnixSignals

struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run the daemon in the foreground; SIGTERM finishes the work in progress and stops, SIGHUP reloads.")

  @OptionGroup var options: SpoolOptions

  func run() async throws {
    // Trapped from here on, so that a reload during the start neither ends the daemon nor is lost.
    let reloads = await UnixSignalsSequence(trapping: .sighup)
    let settings = try options.settings(as: .configured)
    try SpoolUser.startOver()
    // A closed log reader must not end the daemon.
    signal(SIGPIPE, SIG_IGN)
    // The daemon's files are private; client directories get explicit permissions.
    umask(0o077)
    // A shell's default of 1,024 is too few for many requests and uploads.
    _ = ckernel_allow_descriptors(4096)
    ckernel_join_freed_memory()
    let logSetting = LogSetting(settings.log)
    let log = Logger(label: "photospool") { _ in LineLog(logSetting) }
    if geteuid() == 0 { log.warning("running as root; name another user with spool.user") }
    if access(DarkroomProgram.path, X_OK) != 0 {
      log.warning(
        "photos cannot be prepared: photospool-darkroom is missing; install photospool again",
        metadata: ["program": "\(DarkroomProgram.path)"])
    }
    try await DaemonProcess(settings, logSetting: logSetting, log: log)
      .run(reloads: reloads) { [options] in try options.settings() }
  }
}
