import Synchronization
import Testing

@testable import Delivery

@Suite(.timeLimit(.minutes(5))) struct ReadAheadTests {
  private struct Fault: Error {}

  /// Reads two names at a time, and writes down which.
  private final class Reader: Sendable {
    let read = Mutex<[[String]]>([])

    var batches: ReadAhead<[String]> {
      ReadAhead { [self] names in
        let batch = Array(names.prefix(2))
        if batch.contains("bad") { throw Fault() }
        read.withLock { $0.append(batch) }
        return (batch, batch.count)
      }
    }

    func hasRead(_ count: Int) async {
      while read.withLock({ $0.count }) < count, !Task.isCancelled { await Task.yield() }
    }
  }

  @Test("The next batch is read while one is entered, and each is entered once, in order")
  func ahead() async throws {
    let reader = Reader()
    var entered = [[String]]()
    try await reader.batches.take(
      ["a", "b", "c", "d", "e"], isStopping: { false }, hasJobs: { false }, doJobs: {},
      enter: { batch in
        entered.append(batch)
        await reader.hasRead(min(entered.count + 1, 3))
      })
    #expect(entered == [["a", "b"], ["c", "d"], ["e"]])
    #expect(reader.read.withLock { $0 } == entered)
  }

  @Test("What was read before a job is read again after it")
  func job() async throws {
    let reader = Reader()
    var (entered, readBeforeJob) = ([[String]](), 0)
    try await reader.batches.take(
      ["a", "b", "c", "d"], isStopping: { false }, hasJobs: { entered.count == 1 && readBeforeJob == 0 },
      doJobs: { readBeforeJob = reader.read.withLock { $0.count } },
      enter: { batch in
        entered.append(batch)
        await reader.hasRead(2)
      })
    #expect(readBeforeJob == 2)
    #expect(reader.read.withLock { $0 } == [["a", "b"], ["c", "d"], ["c", "d"]])
    #expect(entered == [["a", "b"], ["c", "d"]])
  }

  @Test("What fails ends it, and a stop leaves what was read")
  func end() async throws {
    let reader = Reader()
    var entered = [[String]]()
    await #expect(throws: Fault.self) {
      try await reader.batches.take(
        ["a", "b", "bad", "c"], isStopping: { false }, hasJobs: { false }, doJobs: {}, enter: { entered.append($0) })
    }
    #expect(entered == [["a", "b"]])
    await #expect(throws: Fault.self) {
      try await reader.batches.take(
        ["a", "b", "c"], isStopping: { false }, hasJobs: { false }, doJobs: {}, enter: { _ in throw Fault() })
    }
    try await reader.batches.take(
      ["a", "b", "c"], isStopping: { entered.count == 2 }, hasJobs: { false }, doJobs: {}, enter: { entered.append($0) }
    )
    #expect(entered == [["a", "b"], ["a", "b"]])
  }
}
