import Dispatch
import DurableFiles
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import Ledgers

@Suite struct CheckpointPolicyTests {
  @Test func longLogRestartsAndBlocksOnlyOnce() {
    var policy = CheckpointPolicy()
    let long = CheckpointPolicy.longLog
    #expect(policy.copied(pages: long - 1) == false)
    #expect(policy.copied(pages: long) == true)
    #expect(policy.copied(pages: long + 1) == false)
    #expect(policy.copied(pages: 2 * long - 1) == false)
    #expect(policy.copied(pages: 2 * long) == true)
    #expect(policy.copied(pages: 10) == false)
    #expect(policy.copied(pages: long) == true)
  }

  @Test func theLogIsCopiedOnceAHundredChangesAreInIt() async throws {
    let scratch = try TemporaryDirectory()
    let ledger = try Ledger(in: Directory(path: scratch.path))
    func size() throws -> Int { try #require(try Directory(path: scratch.path).entry(Ledger.fileName)).size }
    try await ledger.write { try $0.execute(sql: "CREATE TABLE scratch (bytes BLOB)") }
    let before = try size()
    for _ in 2..<CheckpointPolicy.changes {
      try await ledger.write { try $0.execute(sql: "INSERT INTO scratch VALUES (zeroblob(4000))") }
    }
    #expect(try size() == before)
    // The copy follows the answer to the hundredth, and comes before the next one.
    for _ in 0..<2 {
      try await ledger.write { try $0.execute(sql: "INSERT INTO scratch VALUES (zeroblob(4000))") }
    }
    #expect(try size() > before)
    try ledger.close()
  }

  @Test func theLogStaysShortWhileSomebodyAlwaysReads() async throws {
    let scratch = try TemporaryDirectory()
    let ledger = try Ledger(in: Directory(path: scratch.path))
    try await ledger.write { try $0.execute(sql: "CREATE TABLE scratch (bytes BLOB)") }
    let readers = try (0..<2).map { _ in
      var configuration = Configuration()
      configuration.readonly = true
      configuration.allowsUnsafeTransactions = true
      return try DatabaseQueue(path: scratch.path(Ledger.fileName), configuration: configuration)
    }
    let isOver = Mutex(false)
    try readers[0].begin()
    // A queue of its own: a task would wait for the tasks of other tests, and the log with it.
    let reading = Task.detached {
      try await onQueueOfItsOwn {
        var number = 0
        while !isOver.withLock(\.self) {
          // The next one begins before the last one ends.
          try readers[(number + 1) % 2].begin()
          try readers[number % 2].end()
          number += 1
        }
        try readers[number % 2].end()
      }
    }
    var longest = 0
    for _ in 0..<1000 {
      try await ledger.write { try $0.execute(sql: "INSERT INTO scratch VALUES (zeroblob(40000))") }
      longest = max(longest, try #require(try Directory(path: scratch.path).entry("\(Ledger.fileName)-wal")).size)
    }
    isOver.withLock { $0 = true }
    try await reading.value
    #expect(longest < 32 << 20)
    try ledger.close()
  }
}

private func onQueueOfItsOwn(_ work: @escaping @Sendable () throws -> Void) async throws {
  try await withCheckedThrowingContinuation { continuation in
    DispatchQueue(label: "reader").async { continuation.resume(with: Result(catching: work)) }
  }
}

extension DatabaseQueue {
  fileprivate func begin() throws { try inDatabase { try $0.execute(sql: "BEGIN; SELECT * FROM sqlite_schema") } }
  fileprivate func end() throws { try inDatabase { try $0.execute(sql: "COMMIT") } }
}
