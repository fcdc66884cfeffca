import CKernel
import Glibc
import Messages
import Subprocess
import Synchronization

/// The program that publishes messages, and what it is given.
public struct ExecOptions: Sendable {
  /// Its absolute path. No shell and no search path is involved.
  public var program: String
  public var arguments: [String] = []
  /// Set besides `PATH` and `LANG`. Nothing else of this process's own environment is passed on.
  public var environment: [String: String] = [:]
  /// How long it may take, in seconds. Then it gets SIGTERM, and SIGKILL a little later, with all that it started.
  public var timeLimit = 60.0

  public init(program: String) { self.program = program }
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
public struct ExecNetwork: Network {
  public let name: String
  private let path: String
  private let faults: ExecFaults
  private let configuration: Configuration
  private let timeLimit: Duration
  private let clock: @Sendable () -> Timestamp

  /// How long a program may take to end itself when its time is over, and when photospool stops.
  private static let grace = Duration.seconds(5)
  private static let graceAtStop = Duration.seconds(1)
  private static let environment = ["PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"]

  /// - Throws: `.configError` for a path that is not absolute.
  public init(
    name: String = "exec", _ options: ExecOptions, clock: @escaping @Sendable () -> Timestamp = { .now() }
  ) throws(DeliveryError) {
    self.name = name
    guard options.program.hasPrefix("/"), !options.program.contains("\0") else {
      throw DeliveryError(.configError, "the program that publishes has to be an absolute path")
    }
    path = options.program
    faults = ExecFaults(program: ExecSpeech.plain(options.program))
    let environment = Self.environment.merging(options.environment) { $1 }
    var platform = PlatformOptions()
    // A group of its own, so that what it started ends with it.
    platform.processGroupID = 0
    platform.teardownSequence = [
      .send(signal: .terminate, toProcessGroup: true, allowedDurationToNextStep: Self.graceAtStop)
    ]
    configuration = Configuration(
      executable: .path(.init(options.program)), arguments: Arguments(options.arguments),
      environment: .custom(environment.reduce(into: [:]) { $0[.init(stringLiteral: $1.key)] = $1.value }),
      workingDirectory: .init("/"), platformOptions: platform)
    timeLimit = .seconds(options.timeLimit)
    self.clock = clock
  }

  /// - Throws: what `ExecFaults` makes of how the program ended.
  public func publish(_ message: OutgoingMessage) async throws(DeliveryError) -> Publication {
    let leash = ExecLeash()
    let result = try await run(message, leash).get()
    // One that was told to end may have done so with an answer.
    if case .signaled = result.status, leash.wasPulled { throw faults.tookTooLong }
    guard result.status.isSuccess else { throw faults.error(result) }
    return Publication(
      publishedAt: clock(), remoteID: result.output.firstLine, attachment: message.content.attachment)
  }

  /// A program cannot be asked what it has published; it knows a repetition by its id.
  public func find(_ message: TriedMessage) async throws(DeliveryError) -> Sighting { .unknown }

  public func check() async throws(DeliveryError) -> String {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(path, X_OK) == 0 else {
      throw faults.missing
    }
    return "runs \(faults.program) for each message"
  }

  /// Runs the program to its end, which comes soon when its time is over or this task is cancelled.
  private func run(_ message: OutgoingMessage, _ leash: ExecLeash) async -> Result<ExecResult, DeliveryError> {
    await withTaskGroup(of: Result<ExecResult, DeliveryError>?.self) { group in
      group.addTask { await self.run(input: Array("\(message.members)\n".utf8), leash) }
      group.addTask {
        // The sleeps end early once the program has ended.
        guard (try? await Task.sleep(for: timeLimit)) != nil else { return nil }
        leash.pull(SIGTERM)
        guard (try? await Task.sleep(for: Self.grace)) != nil else { return nil }
        leash.pull(SIGKILL)
        return nil
      }
      while let ending = await group.next() {
        guard let ending else { continue }
        group.cancelAll()
        return ending
      }
      return .failure(faults.interrupted)
    }
  }

  private func run(input: [UInt8], _ leash: ExecLeash) async -> Result<ExecResult, DeliveryError> {
    do {
      // Not a pipe, which a program that does not read would break.
      let file = try file(with: input)
      let result = try await Subprocess.run(
        configuration, input: .fileDescriptor(.init(rawValue: file), closeAfterSpawningProcess: true),
        output: .sequence, error: .sequence
      ) { execution in
        leash.attach(to: execution.processIdentifier.value)
        async let output = ExecSpeech.read(execution.standardOutput)
        async let errors = ExecSpeech.read(execution.standardError)
        return try await (output, errors)
      }
      let (output, errors) = result.closureResult
      return .success(ExecResult(status: result.terminationStatus, output: output, errors: errors))
    } catch let error as SubprocessError {
      return .failure(faults.error(error))
    } catch let error as DeliveryError {
      return .failure(error)
    } catch {
      return .failure(faults.interrupted)
    }
  }

  /// A file in memory that holds `bytes`, at its beginning. It holds keys, and is never on a disk.
  private func file(with bytes: [UInt8]) throws(DeliveryError) -> Int32 {
    let file = ckernel_memory_file("message")
    guard file >= 0 else { throw faults.noRoom }
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
      guard count > 0 || errno == EINTR else {
        close(file)
        throw faults.noRoom
      }
      written += max(count, 0)
    }
    lseek(file, 0, SEEK_SET)
    return file
  }
}

/// What ends a program and all that it started, once it runs.
private final class ExecLeash: Sendable {
  private let state = Mutex<(group: pid_t?, wasPulled: Bool)>((nil, false))

  func attach(to group: pid_t) { state.withLock { $0.group = group } }

  func pull(_ signal: Int32) {
    state.withLock { state in
      guard let group = state.group else { return }
      state.wasPulled = true
      kill(-group, signal)
    }
  }

  var wasPulled: Bool { state.withLock { $0.wasPulled } }
}
