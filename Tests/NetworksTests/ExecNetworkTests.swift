import Foundation
import Messages
import TestSupport
import Testing

@testable import Networks

@Suite(.timeLimit(.minutes(2))) struct ExecNetworkTests {
  private let scratch: TemporaryDirectory
  private let noon = Timestamp(milliseconds: 1_772_280_000_250)
  private let photo = Messages.Attachment("https://example.test/o", isSealed: true)

  init() throws { scratch = try TemporaryDirectory() }

  /// Runs this shell text; `$1` is the test's directory.
  private func network(_ script: String, timeLimit: Double = 60, environment: [String: String] = [:]) throws
    -> ExecNetwork
  {
    try ExecNetwork(
      program: "/bin/sh", arguments: ["-c", script, "sh", scratch.path], environment: environment,
      timeout: .seconds(timeLimit), clock: { [noon] in noon })
  }

  private func message(_ content: OutgoingMessage.Content = .text("hello")) -> OutgoingMessage {
    OutgoingMessage("m1", content)
  }

  private func error(_ network: ExecNetwork) async throws -> DeliveryError? {
    try await failure { try await network.publish(message()) }
  }

  private func contents(_ name: String) throws -> String {
    try String(contentsOfFile: scratch.path(name), encoding: .utf8)
  }

  @Test func theProgramGetsTheMessageAsOneLineOfJSON() async throws {
    let publication = try await network("cat > $1/got").publish(message(.photo(photo)))
    #expect(
      try contents("got")
        == #"{"message":"m1","request":"r","conversation":"family","inbox":"me","kind":"photo","attachment":{"url":"https://example.test/o","contentDigest":"d","secret":"s","salt":"t","nonce":"n","scheme":"https://","contentLength":9,"filename":"photo.jpg","mimeType":"image/jpeg","width":3,"height":4}}"#
        + "\n")
    #expect(publication == Publication(publishedAt: noon, remoteID: nil, attachment: photo))
  }

  @Test func theProgramInheritsNothing() async throws {
    setenv("PHOTOSPOOL_TEST_SECRET", "SECRET", 1)
    let network = try network(
      "env > $1/env; pwd > $1/pwd; ls -l /proc/$$/fd > $1/fds", environment: ["TOKEN_FILE": "/run/token"])
    _ = try await network.publish(message())
    let names = try contents("env").split(separator: "\n").map { $0.prefix { $0 != "=" } }
    #expect(Set(names).subtracting(["PWD", "_", "SHLVL", "OLDPWD"]) == ["PATH", "LANG", "TOKEN_FILE"])
    #expect(try contents("pwd") == "/\n")
  }

  @Test func silentAndTalkativeProgramsDoNoHarm() async throws {
    let text = String(repeating: "x", count: 65_536)
    _ = try await network("exit 0").publish(message(.text(text)))
    let chatty = try network("head -c 3000000 /dev/zero | tr '\\0' x; head -c 3000000 /dev/zero | tr '\\0' y >&2")
    #expect(try await chatty.publish(message()).remoteID == String(repeating: "x", count: 255))
  }

  @Test(arguments: [
    ("echo '$42:example.test'; echo more", "$42:example.test"), ("printf '  id  '", "id"), ("true", nil),
    ("echo; echo id", nil), ("printf 'a\\033[31mb\\n'", "a\\u{1b}[31mb"), ("printf 'a\\377\\n'", "a\u{fffd}"),
  ])
  func theFirstLineIsTheRemoteId(_ script: String, _ id: String?) async throws {
    #expect(try await network(script).publish(message()).remoteID == id)
  }

  @Test(arguments: [
    (64, Cause.rejected), (65, .malformedRequest), (66, .rejected), (67, .roomGone), (68, .roomGone),
    (69, .serverBusy), (70, .serverBusy), (71, .localResources), (72, .configError), (73, .localStorageError),
    (74, .network), (75, .serverBusy), (76, .rejected), (77, .forbidden), (78, .configError), (1, .rejected),
    (126, .configError), (127, .configError), (255, .rejected),
  ])
  func theExitStatusDecides(_ status: Int, _ cause: Cause) async throws {
    let error = try await error(
      network("echo published; echo one >&2; echo 'because of \u{1b}[31mthat' >&2; exit \(status)"))
    #expect(error?.cause == cause)
    #expect(error?.sentence.hasSuffix("(\(status)): because of \\u{1b}[31mthat") == true)
  }

  @Test func aLastLineOfAnyLengthStaysOneSentence() async throws {
    let error = try await error(network("head -c 100000 /dev/zero | tr '\\0' y >&2; echo >&2; exit 75"))
    #expect((error?.sentence.utf8.count ?? 0) < 400 && error?.sentence.contains("\n") == false)
  }

  @Test func aProgramThatCrashesIsRunAgain() async throws {
    let error = try await error(network("kill -9 $$"))
    #expect(error?.cause.disposition == .retry && error?.sentence.contains("signal 9") == true)
  }

  @Test(arguments: ["/nonexistent/program", "/etc/passwd", "/", "/bin/sh/x"])
  func aProgramThatCannotBeRunHoldsTheNetwork(_ program: String) async throws {
    let network = try ExecNetwork(program: program)
    #expect(try await error(network)?.cause == .configError)
    await #expect(throws: DeliveryError.self) { try await network.check() }
  }

  @Test(arguments: ["", "sh", "./sh", "/bin/sh\0x"]) func aPathThatIsNotAbsoluteIsAConfigurationError(_ program: String)
  {
    let error = #expect(throws: DeliveryError.self) { try ExecNetwork(program: program) }
    #expect(error?.cause == .configError)
  }

  @Test func slowProgramIsStoppedWithItsChildren() async throws {
    let network = try network("sleep 1000 & echo $! > $1/child; sleep 1000", timeLimit: 5)
    #expect(try await error(network)?.cause == .timeout)
    let child = try #require(pid_t(contents("child").trimmingCharacters(in: .whitespacesAndNewlines)))
    // It is gone, or a zombie until its new parent waits; a busy machine needs time for that.
    let end = ContinuousClock.now + .seconds(60)
    while try kill(child, 0) == 0 && !isZombie(child) {
      if ContinuousClock.now > end {
        Issue.record("it lives")
        break
      }
      await Task.yield()
    }
  }

  private func isZombie(_ process: pid_t) throws -> Bool {
    try run(["ps", "-o", "stat=", "-p", "\(process)"]).output.hasPrefix("Z")
  }

  @Test func programThatEndsOnSIGTERMIsBelieved() async throws {
    let network = try network("trap 'echo id; exit 0' TERM; sleep 1000 & wait", timeLimit: 5)
    #expect(try await network.publish(message()).remoteID == "id")
  }

  @Test func processesLeftRunningAreNotWaitedFor() async throws {
    let network = try network("sleep 1000 & echo $! > $1/child; echo id")
    #expect(try await network.publish(message()).remoteID == "id")
    let child = try #require(pid_t(contents("child").trimmingCharacters(in: .whitespacesAndNewlines)))
    kill(child, SIGKILL)
  }

  @Test func cancelStopsTheProgramAndFailsNothing() async throws {
    let message = message()
    try #require(mkfifo(scratch.path("begun"), 0o600) == 0)
    let network = try network("echo > $1/begun; sleep 1000")
    let publishing = Task { try await network.publish(message) }
    let path = scratch.path("begun")
    _ = await Task.detached { try? String(contentsOfFile: path, encoding: .utf8) }.value
    publishing.cancel()
    let error = await #expect(throws: DeliveryError.self) { try await publishing.value }
    #expect(error?.cause.disposition == .retry)
  }

  @Test func checkingRunsNothing() async throws {
    #expect(try await network("touch $1/ran").check() == "runs /bin/sh for each message")
    #expect(throws: CocoaError.self) { try contents("ran") }
  }

  @Test func findIsAlwaysUnknown() async throws {
    #expect(try await network("exit 1").find(TriedMessage("m")) == .unknown)
  }
}
