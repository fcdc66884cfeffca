import ArgumentParser
import CKernel
import Composition
import Digests
import DurableFiles
import Glibc
import HTTP
import Ledgers
import Messages
import SettingKit
import SpoolMetering

private let diskGaveOut: StaticString =
  "photospool: the disk of the spool is full or failed below a mapped file; make room or look into the kernel's log, then start again\n"

@main
struct Photospool: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "photospool",
    abstract: "Sendmail for photo messages: drop photos and a line of text into a directory, and forget about them.",
    discussion: """
      EXAMPLES
        photospool run                 the daemon, in the foreground
        photospool send --to family --photo cat.jpg --text 'Look!'
        photospool queue               what is waiting, and why

      EXIT STATUS
        0 done, 64 usage, 65 bad data, 66 no input, 67 unknown address, 69 unavailable or failed,
        73 cannot create, 74 input/output error, 75 try again, 77 no permission,
        78 configuration
      """,
    version: programVersion,
    subcommands: [
      RunCommand.self, SendCommand.self, QueueCommand.self, ShowCommand.self, WaitCommand.self, CancelCommand.self,
      RetryCommand.self, FlushCommand.self, HoldCommand.self, ReleaseCommand.self, ShapeCommand.self,
      PrepareCommand.self, PhotosCommand.self, ViewCommand.self, RevealCommand.self, HideCommand.self,
      ExportCommand.self, PrefsCommand.self, ProfileCommand.self, StorageCommand.self, JanitorCommand.self,
      PurgeCommand.self, ClearCommand.self, CheckCommand.self, MetricsCommand.self, RebuildCommand.self,
      WebCommand.self, SendmailCommand.self, MailCommand.self, WatchCommand.self,
    ])

  /// Options before the command, which the commands read from here.
  @OptionGroup var options: SpoolOptions

  static func main() async {
    // A file size limit then gives an error, like a full disk.
    signal(SIGXFSZ, SIG_IGN)
    // A program that opens a file for writing while `ckernel_has_writer` asks about it causes this signal.
    signal(SIGIO, SIG_IGN)
    // Keys and tokens are in memory.
    ckernel_refuse_core_files()
    // SQLite maps the index of its log. With blocks smaller than pages, a full disk raises SIGBUS there.
    ckernel_end_on_bus_error(
      UnsafeRawPointer(diskGaveOut.utf8Start).assumingMemoryBound(to: CChar.self), ExitStatus.inputOutput.rawValue)
    // Otherwise libdispatch reports every thread whose priority it may not raise to syslog.
    setenv("LIBDISPATCH_LOG", "NO", 0)
    if let call = SendmailCommand.call(CommandLine.arguments) { takeMail(call.options, call.arguments) }
    let arguments = Array(CommandLine.arguments.dropFirst())
    var parsed: (any ParsableCommand)?
    do {
      var command = try parseAsRoot(arguments)
      parsed = command
      if !type(of: command).configuration.subcommands.isEmpty { throw MissingCommand() }
      try GivenOptions.check(arguments, of: command)
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
      end(.done)
    } catch {
      let kind = parsed.map { type(of: $0) }
      if error is MissingCommand { end(with: helpMessage(for: kind ?? Self.self)) }
      if let error = error as? ValidationError, let kind {
        end(with: "Error: \(error.message)\nUsage: \(usageString(for: kind))")
      }
      guard let status = ExitStatus(for: error) else { end(with: error, arguments) }
      Terminal.complain("\(error)\((error as? FileError)?.remedy ?? "")")
      end(status)
    }
  }

  /// Runs `sendmail`, whose arguments the parser does not know.
  private static func takeMail(_ options: [String], _ arguments: [String]) -> Never {
    do {
      try SendmailCommand.run(SpoolOptions.parse(options), arguments)
      end(.done)
    } catch {
      Terminal.complain("\(error)")
      end(ExitStatus(for: error) ?? .usage)
    }
  }

  /// Ends the process without exit handlers. OpenSSL's frees memory that ending threads still use.
  private static func end(_ status: ExitStatus) -> Never {
    let failed = ckernel_output_failed()
    if failed { Terminal.complain("the output cannot be written; make room for it, and ask again") }
    fflush(nil)
    _exit(failed && status == .done ? ExitStatus.inputOutput.rawValue : status.rawValue)
  }

  /// Thrown if a command needs a subcommand.
  private struct MissingCommand: Error {}

  /// Prints the requested help, or the error in the arguments.
  private static func end(with error: any Error, _ arguments: [String]) -> Never {
    let code = exitCode(for: error)
    if code.isSuccess {
      if message(for: error) == programVersion { sayVersions() }
      exit(withError: error)
    }
    let commands = configuration.subcommands.map { $0._commandName }
    if let word = command(in: arguments), !commands.contains(word), word != "help" {
      let meant = suggestion(for: word, among: commands).map { "; did you mean \($0)?" } ?? "; see `photospool --help`"
      end(with: "Error: there is no command \(word)\(meant)")
    }
    end(with: fullMessage(for: error))
  }

  private static func sayVersions() -> Never {
    print("photospool \(programVersion)")
    let commit = String(cString: ckernel_commit())
    if !commit.isEmpty { print("commit \(commit)") }
    print("SQLite \(Ledger.sqliteVersion), \(opensslVersion)")
    print(HTTPClient.libraryVersion)
    print("darkroom: \(DarkroomProgram.libraries() ?? "photospool-darkroom cannot be started")")
    end(.done)
  }

  /// The first argument that is neither an option nor the value of one before the command.
  private static func command(in arguments: [String]) -> String? {
    var rest = arguments[...]
    while let word = rest.popFirst() {
      if word == "--spool" || word == "--config" { _ = rest.popFirst() } else if !word.hasPrefix("-") { return word }
    }
    return nil
  }

  private static func end(with message: String) -> Never {
    for line in message.split(separator: "\n", omittingEmptySubsequences: false) {
      Terminal.say(escaped(String(line.prefix(Terminal.longest))))
    }
    end(.usage)
  }
}
