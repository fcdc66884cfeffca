import Children
import Glibc
import Messages
import Seals

/// Publishes by running a program for each message.
///
/// The program reads the message from standard input: one JSON object with the members of a published line except
/// `publishedAt`, which includes the keys of a sealed photo. Its exit status follows sysexits.h: 0 means published for
/// good, and the first line of output, if any, is the message's id there. For others, the last line of standard error
/// is the reason.
///
/// The program may run again for a message that it has published, if this process died before it learned of that, or
/// after the time limit. `message` identifies the repetition.
package struct ExecNetwork: Network {
  package let name: String
  package let takesBatches = false
  private let faults: ExecFaults
  private let program: ChildProgram
  private let timeout: Duration
  private let clock: @Sendable () -> Timestamp

  /// The time between SIGTERM and SIGKILL, and for finishing when photospool stops.
  private static let grace = Duration.seconds(5)
  private static let graceAtStop = Duration.seconds(1)
  private static let environment = ["PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"]

  /// - Parameters:
  ///   - program: its absolute path. No shell and no search path are used.
  ///   - environment: variables besides `PATH` and `LANG`; nothing else is passed on.
  ///   - timeout: for one message. After it the program and its children get SIGTERM, then SIGKILL.
  /// - Throws: `.configError` for a relative path.
  package init(
    name: String = "exec", program path: String, arguments: [String] = [], environment: [String: String] = [:],
    timeout: Duration = .seconds(60), clock: @escaping @Sendable () -> Timestamp = { .now() }
  ) throws(DeliveryError) {
    self.name = name
    guard path.hasPrefix("/"), !path.contains("\0") else {
      throw DeliveryError(.configError, "the program that publishes has to be an absolute path")
    }
    faults = ExecFaults(program: CapturedOutput.plain(path))
    let environment = Self.environment.merging(environment) { $1 }
    program = ChildProgram(
      path: path, arguments: arguments,
      environment: environment.map { "\($0.key)=\($0.value)" }, beginsInRoot: true)
    self.timeout = timeout
    self.clock = clock
  }

  package func admit(_ address: Address, sealedWith seal: SealKind) {}
  package func reserve(_ message: OutgoingMessage) -> String? { nil }
  package func stop() {}

  /// - Throws: the error of `ExecFaults`.
  package func publish(_ message: OutgoingMessage) async throws(DeliveryError) -> Publication {
    let leash = ChildLeash()
    let limit = Task {
      try await Task.sleep(for: timeout)
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
    // A program that was told to end may still have ended with a status.
    if case .killed = end.status, leash.wasPulled { throw Task.isCancelled ? faults.interrupted : faults.tookTooLong }
    guard end.status == .exited(0) else { throw faults.error(end) }
    return Publication(
      publishedAt: clock(), remoteID: end.output.firstLine, attachment: message.content.attachment)
  }

  /// A program cannot be asked; it recognises a repetition by its id.
  package func find(_ message: TriedMessage) async throws(DeliveryError) -> Sighting { .unknown }

  package func check() async throws(DeliveryError) -> String {
    var status = stat()
    guard stat(program.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(program.path, X_OK) == 0 else {
      throw faults.missing
    }
    return "runs \(faults.program) for each message"
  }
}
