import Foundation
import Logging
import ServiceLifecycle
import Settings
import TestSupport
import Testing

@testable import Hooks

@Suite(.timeLimit(.minutes(4))) struct HookLineTests {
  private let scratch: TemporaryDirectory

  init() throws { scratch = try TemporaryDirectory() }

  private struct Notice: Encodable {
    let number: Int
  }

  /// Settings with a shell script for one event; `$DIR` is the test's directory.
  private func settings(_ script: String, _ change: (inout Settings.Hooks) -> Void = { _ in }) throws -> Settings.Hooks
  {
    let path = scratch.path("hook")
    // Another process writes it: a program that a child of another test holds open for writing cannot be started.
    let written = try TestSupport.run(
      ["/bin/sh", "-c", "umask 077 && cat > \"$0\" && chmod 700 \"$0\"", path],
      input: "#!/bin/sh\nDIR='\(scratch.path)'\n\(script)\n")
    #expect(written.status == 0)
    var settings = Settings().hooks
    settings.programs = [.sent: path]
    settings.timeout = .minutes(2)
    settings.perMinute = 6000
    change(&settings)
    return settings
  }

  private func run(
    _ settings: Settings.Hooks, _ body: @escaping @Sendable (HookLine) async throws -> Void
  ) async throws {
    let line = HookLine(settings: { settings }, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await line.run() }
      try await body(line)
      group.cancelAll()
    }
  }

  /// Waits until the counts of `sent` satisfy `isDone`.
  private func wait(_ line: HookLine, until isDone: (HookLine.Counts) -> Bool) async throws {
    while !isDone(line.counts[.sent] ?? HookLine.Counts()) { try await Task.sleep(for: .milliseconds(20)) }
  }

  private func lines(_ name: String) throws -> [String] {
    try String(contentsOfFile: scratch.path(name), encoding: .utf8).split(separator: "\n").map(String.init)
  }

  @Test func aProgramIsToldOneLineEachTimeInOrder() async throws {
    try await run(settings(#"cat >> "$DIR/got""#)) { line in
      for number in 1...5 { line.tell(.sent, Notice(number: number)) }
      // These have no hook.
      line.tell(.failed, Notice(number: 6))
      try await wait(line) { $0.run == 5 }
      #expect(line.counts[.sent] == HookLine.Counts(run: 5, failed: 0, dropped: 0))
      #expect(line.counts[.failed] == HookLine.Counts())
    }
    #expect(try lines("got") == (1...5).map { #"{"number":\#($0)}"# })
  }

  @Test func hookInheritsOnlyItsInput() async throws {
    setenv("PHOTOSPOOL_TEST_SECRET", "SECRET", 1)
    let file = try #require(fopen(scratch.path("open"), "w"))
    defer { fclose(file) }
    let script = #"env > "$DIR/env"; for f in /proc/self/fd/*; do readlink "$f"; done > "$DIR/fds"; cat > "$DIR/got""#
    try await run(settings(script)) { line in
      line.tell(.sent, Notice(number: 1))
      try await wait(line) { $0.run == 1 }
    }
    #expect(try !lines("env").contains { $0.contains("SECRET") })
    // The shell and readlink have their own descriptors; ours would be in the test's directory.
    #expect(
      try lines("fds").filter { $0.hasPrefix(scratch.path) && !$0.hasSuffix("/fds") && !$0.hasSuffix("/hook") } == [])
    #expect(try lines("got") == [#"{"number":1}"#])
  }

  @Test func eventsBeyondTheQueueAreCountedAndBlockNobody() async throws {
    // The first one waits for a file.
    let script = #"cat >> "$DIR/got"; until [ -e "$DIR/go" ]; do sleep 0.05; done"#
    try await run(settings(script)) { [scratch] line in
      line.tell(.sent, Notice(number: 0))
      while !FileManager.default.fileExists(atPath: scratch.path("got")) {
        try await Task.sleep(for: .milliseconds(20))
      }
      for number in 1...(HookLine.longest + 40) { line.tell(.sent, Notice(number: number)) }
      #expect(line.counts[.sent]?.dropped == 40)
      _ = FileManager.default.createFile(atPath: scratch.path("go"), contents: nil)
      try await wait(line) { $0.run == HookLine.longest + 1 }
    }
    #expect(try lines("got").count == HookLine.longest + 1)
  }

  @Test func slowProgramIsEndedWithItsChildren() async throws {
    let script = #"(trap '' TERM; echo $$ > "$DIR/child"; while :; do sleep 1; done) & wait"#
    // Time for a busy machine to start the shell.
    try await run(settings(script) { $0.timeout = .seconds(5) }) { line in
      line.tell(.sent, Notice(number: 1))
      try await wait(line) { $0.run == 1 }
      #expect(line.counts[.sent]?.failed == 1)
    }
    let group = try #require(try lines("child").first.flatMap { Int32($0) })
    var left = 200
    while kill(-group, 0) == 0 && left > 0 {
      left -= 1
      try await Task.sleep(for: .milliseconds(50))
    }
    #expect(kill(-group, 0) != 0)
  }

  @Test func failureIsCountedAndTheNextEventRuns() async throws {
    try await run(settings(#"cat >> "$DIR/got"; exit 3"#)) { line in
      for number in 1...2 { line.tell(.sent, Notice(number: number)) }
      try await wait(line) { $0.run == 2 }
      #expect(line.counts[.sent]?.failed == 2)
    }
    #expect(try lines("got").count == 2)
    var absent = Settings().hooks
    absent.programs = [.sent: scratch.path("nobody")]
    try await run(absent) { line in
      line.tell(.sent, Notice(number: 1))
      try await wait(line) { $0.failed == 1 }
    }
  }

  @Test func startsPerMinuteAreLimited() async throws {
    try await run(settings(#"cat >> "$DIR/got""#) { $0.perMinute = 3 }) { line in
      for number in 1...10 { line.tell(.sent, Notice(number: number)) }
      try await wait(line) { $0.run == 3 }
      // The absence of events cannot be awaited; a second is long for six starts.
      try await Task.sleep(for: .seconds(1))
      #expect(line.counts[.sent]?.run == 3)
    }
  }

  @Test func aStopEndsTheProgramThatRuns() async throws {
    try await run(settings(#"echo $$ > "$DIR/pid"; while :; do sleep 1; done"#)) { [scratch] line in
      line.tell(.sent, Notice(number: 1))
      while process(scratch) == nil { try await Task.sleep(for: .milliseconds(20)) }
    }
    let ended = try #require(process(scratch))
    #expect(kill(ended, 0) == -1 && errno == ESRCH)
  }

  /// The program's own process id.
  private func process(_ scratch: TemporaryDirectory) -> pid_t? {
    (try? String(contentsOfFile: scratch.path("pid"), encoding: .utf8)).flatMap { text in
      text.hasSuffix("\n") ? pid_t(text.dropLast()) : nil
    }
  }
}
