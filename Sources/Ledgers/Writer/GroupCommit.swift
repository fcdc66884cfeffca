import DurableFiles
import GRDB
import Glibc
import Synchronization

/// Commits the changes that wait during a sync together in the next transaction. If the disk does not confirm a
/// transaction, nothing is written, checkpointed or closed any more: SQLite's next sync through the same descriptor
/// could falsely succeed. The process must end; the next one empties the log before it writes (`Ledger.settle`).
final class GroupCommit: Sendable {
  /// A change, which runs in the transaction and then gets the result of the commit. It runs again if another change of
  /// its group fails, so any change of files must be repeatable.
  private struct Change: Sendable {
    let run: @Sendable (Database) -> (any Error)?
    let settle: @Sendable (Result<Void, any Error>) -> Void
  }

  private struct State {
    var waiting: [Change] = []
    var isDraining = false
  }

  private let pool: DatabasePool
  private let path: String
  private let lock: FileLock
  private let state = Mutex(State())
  private let listeners = Mutex<[@Sendable () -> Void]>([])
  private let failureListener = Mutex<(@Sendable (LedgerError) -> Void)?>(nil)
  /// The error after which nothing is written.
  private let failure = Mutex<LedgerError?>(nil)
  private let checkpoints = Mutex(CheckpointPolicy())

  /// The largest number of changes in a transaction, so that the first does not wait for all.
  private static let largestGroup = 512
  /// Rows that such a change writes, roughly.
  private static let rowsOfChange = 5
  /// Failed ledgers, which stay open until the process ends because SQLite syncs on close.
  private static let abandoned = Mutex<[DatabasePool]>([])

  init(pool: DatabasePool, path: String, lock: FileLock) {
    self.pool = pool
    self.path = path
    self.lock = lock
  }

  func write<Answer: Sendable>(_ body: @escaping @Sendable (Database) throws -> Answer) async throws -> Answer {
    try await withCheckedThrowingContinuation { continuation in
      let answer = Mutex<Result<Answer, any Error>?>(nil)
      let change = Change(
        run: { database in
          let result = Result { try body(database) }.mapError { self.meaning(of: $0) }
          answer.withLock { $0 = result }
          if case .failure(let error) = result { return error }
          return nil
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

  /// Runs `body` outside of any transaction, under the lock, while nothing else writes.
  func alone<Answer: Sendable>(_ body: @escaping @Sendable (Database) throws -> Answer) async throws -> Answer {
    try await withCheckedThrowingContinuation { continuation in
      pool.asyncWriteWithoutTransaction { database in
        continuation.resume(
          with: Result {
            try self.checkFailure()
            return try self.lock.whileHeld { try body(database) }
          }.mapError { self.meaning(of: $0) })
      }
    }
  }

  /// Calls `listener` after every transaction, on the writer's thread.
  func onCommit(_ listener: @escaping @Sendable () -> Void) { listeners.withLock { $0.append(listener) } }

  /// Calls `listener` once if nothing can be written any more.
  func onFailure(_ listener: @escaping @Sendable (LedgerError) -> Void) {
    failureListener.withLock { $0 = listener }
  }

  /// Checkpoints and closes under the lock.
  func close() throws {
    try checkFailure()
    try lock.whileHeld {
      // The last connection to close may be a reader, which checkpoints nothing.
      do { _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) } } catch { throw meaning(of: error) }
      try pool.close()
    }
  }

  private func checkFailure() throws {
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  /// Translates an error, and remembers the first final one.
  func meaning(of error: any Error) -> any Error {
    guard let meaning = LedgerError(error, path: path) else { return error }
    guard meaning.isFinal else { return meaning }
    let isFirst = failure.withLock { failure in
      defer { failure = failure ?? meaning }
      return failure == nil
    }
    if isFirst {
      Self.abandoned.withLock { $0.append(pool) }
      failureListener.withLock { $0 }?(meaning)
    }
    return meaning
  }

  private func drain(_ database: Database) {
    while let group = nextGroup() {
      var result = Result { try commit(group, in: database) }.mapError { meaning(of: $0) }
      let listeners = listeners.withLock { $0 }
      if case .failure(LedgerError.full) = result {
        // A listener may free room.
        for listener in listeners { listener() }
        result = Result { try commit(group, in: database) }.mapError { meaning(of: $0) }
      }
      for change in group { change.settle(result) }
      for listener in listeners { listener() }
      // The callers have their answers; only later changes wait.
      if checkpoints.withLock({ $0.isDue }) { copyLog(in: database) }
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
    try checkFailure()
    try lock.whileHeld {
      let before = database.totalChangesCount
      if try !commitTogether(group, in: database) {
        try checkFailure()
        try commitOneByOne(group, in: database)
      }
      // A change of many rows, as the janitor's, counts as several.
      let rows = database.totalChangesCount - before
      checkpoints.withLock { $0.committed(max(group.count, rows / Self.rowsOfChange)) }
    }
  }

  /// Copies the write-ahead log into the ledger. The log may grow meanwhile, so only final errors count.
  private func copyLog(in database: Database) {
    do {
      try lock.whileHeld {
        try checkFailure()
        let pages = try database.checkpoint(.passive).walFrameCount
        if checkpoints.withLock({ $0.copied(pages: pages) }) {
          try database.waiting(milliseconds: 0) { try Self.beginLogAnew(of: $0, pages: pages) }
        }
      }
    } catch {
      _ = meaning(of: error)
    }
  }

  /// Restarts the log as soon as its readers end. It waits for them for 100 ms, and longer the longer the log has become,
  /// but a second at most: somebody may read without end. SQLite itself would wait longer between attempts than most reads
  /// take.
  private static func beginLogAnew(of database: Database, pages: Int) throws {
    for _ in 0..<min(1000, 100 * pages / CheckpointPolicy.longLog) {
      do {
        _ = try database.checkpoint(.restart)
        return
      } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
        usleep(1000)
      }
    }
  }

  /// Makes all changes or none; false if one failed.
  private func commitTogether(_ group: [Change], in database: Database) throws -> Bool {
    var isWell = true
    try database.inTransaction(.immediate) {
      isWell = try Totals.counted(in: database) { try group.allSatisfy { try isMade($0, in: database) } }
      return isWell ? .commit : .rollback
    }
    return isWell
  }

  /// Makes the changes that succeed. A savepoint costs more than most changes, so this runs only after one has failed.
  private func commitOneByOne(_ group: [Change], in database: Database) throws {
    try database.inTransaction(.immediate) {
      for change in group {
        try database.inSavepoint {
          try Totals.counted(in: database) { try isMade(change, in: database) } ? .commit : .rollback
        }
      }
      return .commit
    }
  }

  /// Makes one change; false if it failed.
  private func isMade(_ change: Change, in database: Database) throws -> Bool {
    guard let failure = change.run(database) else { return true }
    // A disk error can end the whole transaction.
    if !database.isInsideTransaction { throw failure }
    return false
  }
}
