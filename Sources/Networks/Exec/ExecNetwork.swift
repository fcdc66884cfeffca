import Children
import Glibc
import Messages

/// The program that publishes messages, and what it is given.
package struct ExecOptions: Sendable {
  /// Its absolute path. No shell and no search path is involved.
  package var program: String
  package var arguments: [String] = []
  /// Set besides `PATH` and `LANG`. Nothing else of this process's own environment is passed on.
  package var environment: [String: String] = [:]
  /// How long it may take, in seconds. Then it gets SIGTERM, and SIGKILL a little later, with all that it started.
  package var timeLimit = 60.0

  package init(program: String) { self.program = program }
}

/// Publishes by running a program, once for each message.
///
/// The program finds the message on its standard input: one JSON object with the members of a line of the `local`
/// network but for `publishedAt`, and so the keys of a sealed photo. What it answers is its exit status, as sysexits.h
/// has it: 0 says that the message is published for good, and the first line of its output, if there is one, is the
/// message's id there. With any other, the last line of its standard error tells why.
///
/// A program can be run again for a message that it has published: when this process died before it had heard so, or the
/// program ran out of its time. It knows such a message by `message`, and has to take it once.
package struct ExecNetwork: Network {
  package let name: String
  private let faults: ExecFaults
  private let program: ChildProgram
  private let timeLimit: Duration
  private let clock: @Sendable () -> Timestamp

  /// How long a program may take to end itself when its time is over, and when photospool stops.
  private static let grace = Duration.seconds(5)
  private static let graceAtStop = Duration.seconds(1)
  private static let environment = ["PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"]

  /// - Throws: `.configError` for a path that is not absolute.
  package init(
    name: String = "exec", _ options: ExecOptions, clock: @escaping @Sendable () -> Timestamp = { .now() }
  ) throws(DeliveryError) {
    self.name = name
    guard options.program.hasPrefix("/"), !options.program.contains("\0") else {
      throw DeliveryError(.configError, "the program that publishes has to be an absolute path")
    }
    faults = ExecFaults(program: CapturedOutput.plain(options.program))
    let environment = Self.environment.merging(options.environment) { $1 }
    program = ChildProgram(
      path: options.program, arguments: options.arguments,
      environment: environment.map { "\($0.key)=\($0.value)" }, beginsInRoot: true)
    timeLimit = .seconds(options.timeLimit)
    self.clock = clock
  }

  /// - Throws: what `ExecFaults` makes of how the program ended.
  package func publish(_ message: OutgoingMessage) async throws(DeliveryError) -> Publication {
    let leash = ChildLeash()
    let limit = Task {
      try await Task.sleep(for: timeLimit)
      leash.end(within: Self.grace)
    }
    let result: Result<ChildEnd, DeliveryError> = await withTaskCancellationHandler {
      do throws(DeliveryError) {
        return .success(
          try await program.run(
            input: Array("\(message.members)\n".utf8), capturesOutput: true, endsGroup: false, on: leash))
      } catch {
        return .failure(faults.error(notStarted: error))
      }
    } onCancel: {
      leash.end(within: Self.graceAtStop)
    }
    limit.cancel()
    let end = try result.get()
    // A program that was told to end may have done so with an answer.
    if case .killed = end.status, leash.wasPulled { throw Task.isCancelled ? faults.interrupted : faults.tookTooLong }
    guard end.status == .exited(0) else { throw faults.error(end) }
    return Publication(
      publishedAt: clock(), remoteID: end.output.firstLine, attachment: message.content.attachment)
  }

  /// A program cannot be asked what it has published; it knows a repetition by its id.
  package func find(_ message: TriedMessage) async throws(DeliveryError) -> Sighting { .unknown }

  package func check() async throws(DeliveryError) -> String {
    var status = stat()
    guard stat(program.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(program.path, X_OK) == 0 else {
      throw faults.missing
    }
    return "runs \(faults.program) for each message"
  }
}
