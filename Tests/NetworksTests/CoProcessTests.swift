import Foundation
import Glibc
import Messages
import Synchronization
import TestSupport
import Testing

@testable import Networks

@Suite struct CoProcessTests {
  /// Splits a request: its id is in `$id`.
  private static let next = "read -r line || exit 0; id=${line#*:}; id=${id%%,*}\n"
  private static let answer = "echo \"{\\\"id\\\":$id,\\\"ok\\\":{\\\"reserved\\\":\\\"$id\\\"}}\"\n"

  private func program(
    _ script: String, _ change: (inout CoProcessProgram) -> Void = { _ in },
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) -> CoProcess {
    var program = CoProcessProgram(name: "fake", path: "/bin/sh", arguments: ["-c", script])
    program.environment = ["PATH=/usr/bin:/bin"]
    change(&program)
    return CoProcess(program, log: log)
  }

  private func error(_ ask: () async throws -> CoProcessAnswer.Facts) async -> DeliveryError? {
    do { return try await ask().reserved.map { DeliveryError(.conflict, "answered \($0)") } } catch {
      return error as? DeliveryError
    }
  }

  /// Whether the process exists, perhaps as a zombie.
  private func exists(_ pid: Int32) -> Bool { Glibc.kill(pid, 0) == 0 || errno != ESRCH }

  @Test("Answers find their requests in any order")
  func anyOrder() async throws {
    let fake = program(
      """
      take() { read -r line; id=${line#*:}; id=${id%%,*}; to=${line##*:}; to=${to%\\}}; }
      take; a="$id $to"; take; b="$id $to"; take; c="$id $to"
      for pair in "$c" "$a" "$b"; do printf '{"id":%s,"ok":{"reserved":"%s"}}\\n' $pair; done
      cat >&2
      """)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1...3 {
        group.addTask {
          let facts = try await fake.ask("fly", ["to": number])
          #expect(facts.reserved == String(number))
        }
      }
      try await group.waitForAll()
    }
    await fake.stop()
  }

  @Test("A dead co-process is started again, and waiting callers get a connection error")
  func dies() async throws {
    let fake = program("\(Self.next) \(Self.answer) \(Self.next) echo 'out of \u{1b}[31mluck' >&2; exit 3")
    for round in 0..<3 {
      #expect(try await fake.ask("fly").reserved == "\(2 * round + 1)")
      let error = await error { try await fake.ask("fly") }
      #expect(error?.cause == .network)
      #expect(error?.sentence == "fake ended with status 3: out of \\u{1b}[31mluck")
    }
  }

  @Test("A co-process that ends before its first request is restarted after growing pauses")
  func backoff() async throws {
    let asked = Mutex<[Int]>([])
    let fake = program("exit 3") { program in
      program.backoff = { failures in
        asked.withLock { $0.append(failures) }
        return failures < 3 ? 0 : 1000
      }
    }
    for _ in 1...3 { #expect(await error { try await fake.ask("fly") }?.cause == .network) }
    let held = await error { try await fake.ask("fly") }
    #expect(held?.cause == .network && (held?.retryAfter ?? 0) > 0)
    #expect(asked.withLock { $0 } == [1, 2, 3])
    let usual = CoProcessProgram(name: "fake", path: "/bin/sh").backoff
    #expect((1...6).map(usual) == [0, 1, 2, 4, 5, 5])
  }

  @Test("A co-process that does not answer in time is ended", arguments: ["cat > /dev/null", "exec sleep 1000"])
  func hangs(_ script: String) async throws {
    let fake = program(script) { $0.answerSeconds = 0.2 }
    let error = await error { try await fake.ask("fly") }
    #expect(error?.cause == .network && error?.sentence.contains("gave no answer") == true)
  }

  @Test("A co-process that does not read is ended, and nobody waits for ever")
  func doesNotRead() async throws {
    let fake = program("exec sleep 1000") { $0.answerSeconds = 0.5 }
    let long = String(repeating: "x", count: 60_000)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<20 {
        group.addTask {
          let error = await error { try await fake.ask("fly", ["text": long]) }
          #expect(error?.cause == .network)
        }
      }
    }
  }

  @Test(
    "One that talks nonsense is ended",
    arguments: [
      "echo hello", "echo '{}'", "echo '[]'", "echo '{\"id\":1}'", "echo '{\"id\":99,\"ok\":{}}'",
      "echo '{\"id\":-1,\"ok\":{}}'",
      "echo '{\"id\":1,\"ok\":{},\"error\":{\"cause\":\"network\",\"sentence\":\"s\"}}'",
      "echo '{\"id\":1,\"error\":{\"cause\":\"boredom\",\"sentence\":\"s\"}}'",
      "echo '{\"id\":1,\"error\":{\"cause\":\"cancelled\",\"sentence\":\"s\"}}'",
      "echo '{\"id\":1,\"ok\":{\"reserved\":5}}'", "printf '\\377\\376\\n'", "head -c 5000 /dev/zero",
      "head -c 5000 /dev/zero | tr '\\0' x", "yes",
    ])
  func nonsense(_ words: String) async throws {
    let fake = program("read -r line; \(words); cat > /dev/null") { $0.longestAnswer = 1000 }
    let error = await error { try await fake.ask("fly") }
    #expect(error?.cause == .network && error?.sentence.contains("sent an invalid answer") == true)
  }

  @Test("Its errors have a cause, and their text is safe for a log")
  func errors() async throws {
    let fake = program(
      "read -r line; printf '%s\\n' '{\"id\":1,\"error\":{\"cause\":\"room_gone\",\"sentence\":\"gone\\u001b[2J\\nfor good\"}}'; cat >&2"
    )
    #expect(
      await error { try await fake.ask("fly") } == DeliveryError(.roomGone, "gone\\u{1b}[2J\\u{a}for good"))
  }

  @Test("A missing program is an error that the operator has to fix")
  func missing() async throws {
    let fake = program("") { $0.path = "/nowhere/fake" }
    let error = await error { try await fake.ask("fly") }
    #expect(error?.cause == .configError && error?.sentence.contains("/nowhere/fake") == true)
  }

  @Test("A cancelled request is answered at once, and its late answer goes to nobody")
  func cancelled() async throws {
    let said = Said()
    let fake = program(
      "\(Self.next) late=$id; echo heard >&2; \(Self.next) now=$id; for id in $late $now; do \(Self.answer) done; cat >&2",
      log: { said.add($0) })
    let first = Task { try await fake.ask("fly") }
    await said.wait(for: "heard")
    first.cancel()
    await #expect { try await first.value } throws: { $0.cause == .cancelled }
    #expect(try await fake.ask("fly").reserved == "2")
  }

  @Test("A task that is cancelled already asks for nothing")
  func cancelledBefore() async throws {
    let fake = program("cat > /dev/null")
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await fake.ask("fly")
    }
    await #expect { try await task.value } throws: { $0.cause == .cancelled }
  }

  @Test("Requests beyond its limit wait with their callers")
  func limit() async throws {
    let said = Said()
    let fake = program("\(Self.next) echo heard >&2; cat > /dev/null", { $0.mostRequests = 1 }, log: { said.add($0) })
    let first = Task { try await fake.ask("fly") }
    await said.wait(for: "heard")
    #expect(await error { try await fake.ask("fly") }?.cause == .localResources)
    first.cancel()
    _ = await first.result
  }

  @Test("Its standard error is logged line by line, bounded and escaped")
  func standardError() async throws {
    let said = Said()
    let fake = program(
      "exec 3>&1 1>&2; printf 'red \\033[31m\\n\\n'; head -c 9000 /dev/zero | tr '\\0' x; echo; echo last; cat > /dev/null",
      log: { said.add($0) })
    let task = Task { try await fake.ask("fly") }
    let lines = await said.wait(for: "last")
    #expect(lines.count == 3)
    #expect(lines.first == "red \\u{1b}[31m" && lines.last == "last")
    #expect(lines.allSatisfy { $0.count <= 501 })
    task.cancel()
    _ = await task.result
  }

  @Test("A flood on standard error does not fill the log")
  func flood() async throws {
    let said = Said()
    let fake = program("\(Self.next) yes | head -n 50000 >&2; \(Self.answer) cat >&2", log: { said.add($0) })
    _ = try await fake.ask("fly")
    await fake.stop()
    #expect(said.lines.count == CoProcessLog.mostInAMinute + 1)
  }

  @Test("It stops when its input ends, and leaves no zombie")
  func stops() async throws {
    let fake = program("\(Self.next) \(Self.answer) \(Self.next)")
    _ = try await fake.ask("fly")
    let pid = try #require(fake.processID)
    await fake.stop()
    #expect(!exists(pid) && fake.processID == nil)
    #expect(await error { try await fake.ask("fly") }?.sentence == "fake was stopped")
  }

  @Test("A co-process that does not stop is killed with all its children")
  func stubborn() async throws {
    let scratch = try TemporaryDirectory()
    let fifo = scratch.path("fifo")
    #expect(mkfifo(fifo, 0o600) == 0)
    let fake = program(
      "trap '' TERM; sleep 1000 > \(fifo) & \(Self.next) \(Self.answer) sleep 1000; sleep 1000", { $0.endSeconds = 0.2 }
    )
    // The pipe ends when the last process that holds it is gone.
    let end = Task.detached { await Self.readToEnd(fifo) }
    _ = try await fake.ask("fly")
    let pid = try #require(fake.processID)
    await fake.stop()
    #expect(!exists(pid))
    await end.value
  }

  private static func readToEnd(_ fifo: String) async {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: fifo).async {
        _ = FileHandle(forReadingAtPath: fifo)?.readDataToEndOfFile()
        continuation.resume()
      }
    }
  }

  @Test("It ends with its owner", .timeLimit(.minutes(5)))
  func released() async throws {
    var fake: CoProcess? = program("\(Self.next) \(Self.answer) cat")
    _ = try await fake?.ask("fly")
    let pid = try #require(fake?.processID)
    fake = nil
    // A thread waits for its end.
    while exists(pid), !Task.isCancelled { await Task.yield() }
    #expect(!exists(pid))
  }

  @Test("A stop answers all waiting callers")
  func stopWhileAsked() async throws {
    let said = Said()
    let fake = program("\(Self.next) echo heard >&2; \(Self.next)", log: { said.add($0) })
    let asked = Task { try await fake.ask("fly") }
    await said.wait(for: "heard")
    await fake.stop()
    await #expect { try await asked.value } throws: { $0.cause == .network }
  }
}
