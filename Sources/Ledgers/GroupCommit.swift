import DurableFiles
import GRDB
import Synchronization

/// Gathers the changes that wait while a transaction is being synced into the next transaction.
final class GroupCommit: Sendable {
  /// One change: runs in the transaction, then is told whether the transaction was committed.
  private struct Change: Sendable {
    let run: @Sendable (Database) -> Void
    let settle: @Sendable (Result<Void, any Error>) -> Void
  }

  private struct State {
    var waiting: [Change] = []
    var isDraining = false
  }

  private let pool: DatabasePool
  private let lock: FileLock
  private let state = Mutex(State())
  private let listener = Mutex<(@Sendable () -> Void)?>(nil)

  /// Changes in one transaction at most, so that the first of many does not wait for all.
  private static let largestGroup = 512

  init(pool: DatabasePool, lock: FileLock) {
    self.pool = pool
    self.lock = lock
  }

  func write<Answer: Sendable>(_ body: @escaping @Sendable (Database) throws -> Answer) async throws -> Answer {
    try await withCheckedThrowingContinuation { continuation in
      let answer = Mutex<Result<Answer, any Error>?>(nil)
      let change = Change(
        run: { database in
          let result = Result { try Self.inSavepoint(database, body) }
          answer.withLock { $0 = result }
        },
        settle: { committed in
          let own = answer.withLock { $0 }
          switch (committed, own) {
          case (.success, .some(let result)): continuation.resume(with: result)
          case (.failure(let error), _): continuation.resume(throwing: error)
          case (.success, .none): continuation.resume(throwing: CancellationError())
          }
        })
      let startsDraining = state.withLock { state in
        state.waiting.append(change)
        defer { state.isDraining = true }
        return !state.isDraining
      }
      if startsDraining { pool.asyncWriteWithoutTransaction { self.drain($0) } }
    }
  }

  /// Runs `body` outside of any transaction, under the lock, while nothing else is written.
  func alone<Answer: Sendable>(_ body: @escaping @Sendable (Database) throws -> Answer) async throws -> Answer {
    try await withCheckedThrowingContinuation { continuation in
      pool.asyncWriteWithoutTransaction { database in
        continuation.resume(with: Result { try self.lock.whileHeld { try body(database) } })
      }
    }
  }

  /// Has `listener` called after every transaction, on the writer's thread.
  func onCommit(_ listener: @escaping @Sendable () -> Void) { self.listener.withLock { $0 = listener } }

  /// The last checkpoint and the close, under the lock.
  func close() throws {
    try lock.whileHeld {
      // The last connection to close may be a reader, which checkpoints nothing.
      _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
      try pool.close()
    }
  }

  private func drain(_ database: Database) {
    while let group = nextGroup() {
      let result = Result { try commit(group, in: database) }
      for change in group { change.settle(result) }
      listener.withLock { $0 }?()
    }
  }

  private func nextGroup() -> [Change]? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.isDraining = false
        return nil
      }
      let group = Array(state.waiting.prefix(Self.largestGroup))
      state.waiting.removeFirst(group.count)
      return group
    }
  }

  private func commit(_ group: [Change], in database: Database) throws {
    try lock.whileHeld {
      try database.inTransaction(.immediate) {
        for change in group { change.run(database) }
        return .commit
      }
    }
  }

  private static func inSavepoint<Answer>(
    _ database: Database, _ body: (Database) throws -> Answer
  ) throws -> Answer {
    var answer: Answer?
    try database.inSavepoint {
      answer = try body(database)
      return .commit
    }
    guard let answer else { throw CancellationError() }
    return answer
  }
}
