import CleanPages
import DurableFiles
import GRDB
import GRDBSQLite

/// The ledger, `state/ledger.sqlite`: all that is known of every request. `GroupCommit` is its only writer in a
/// process.
///
/// A change is on disk when the call that made it returns (WAL, `synchronous=FULL`, checked at opening). Changes that
/// wait at the same time share one transaction and one sync. Each succeeds or fails by itself, in the order of the
/// calls. Every transaction, checkpoint and close holds the kernel lock `state/ledger.lock`, also in other processes.
/// Readers need no lock and see committed data.
package final class Ledger: Sendable {
  let pool: DatabasePool
  private let writer: GroupCommit

  package static let fileName = "ledger.sqlite"
  package static let lockName = "ledger.lock"
  /// The directory in `state/` where `rebuild` makes a new ledger.
  package static let workplaceName = "rebuild"
  /// The prefix of the directories in `state/` where `rebuild` keeps former ledgers.
  package static let formerPrefix = "ledger-"

  /// Opens the ledger in `state` and upgrades its schema.
  ///
  /// - Parameters:
  ///   - isOwn: no other process uses the ledger. A daemon of an earlier version could not continue with a later schema.
  ///   - isDisposable: nothing is synced, and a power cut may damage the file.
  /// - Throws: `LedgerError`; `.older` if the schema needs an upgrade and `isOwn` is false.
  package init(in state: Directory, isOwn: Bool = true, isDisposable: Bool = false) throws {
    let path = state.path(of: Self.fileName)
    let lock = try FileLock(Self.lockName, in: state)
    try lock.acquire()
    defer { lock.release() }
    do {
      pool = try DatabasePool(path: CleanPages.uri(of: path), configuration: Self.configuration())
      let migrator = Upgrade.migrator
      let refusal: LedgerError? =
        if try pool.read(Upgrade.isNewer) {
          .newer(path: path)
        } else if try !isOwn && !pool.read(migrator.hasCompletedMigrations) {
          .older(path: path)
        } else {
          nil
        }
      if let refusal {
        // Closing needs the lock. A checkpoint that fails now is left to the next process.
        try? pool.close()
        throw refusal
      }
      // GRDB sets NORMAL on the writer when it selects WAL; a power cut would then undo commits.
      let synchronous = isDisposable ? "OFF" : "FULL"
      try pool.writeWithoutTransaction { database in
        try database.execute(
          sql: """
            PRAGMA synchronous = \(synchronous); PRAGMA journal_size_limit = 16777216; PRAGMA wal_autocheckpoint = 0
            """)
      }
      if try !pool.read(migrator.hasCompletedMigrations) {
        // The log of a process that died may not be on disk, so the upgrade must not append to it.
        _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
      }
      try migrator.migrate(pool)
      // A rollback journal in a file would leave copies of rows.
      try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA temp_store = MEMORY") }
      if !isDisposable { try Self.assertDurable(pool) }
    } catch let error as DatabaseError {
      throw LedgerError(reading: path, error)
    }
    writer = GroupCommit(pool: pool, path: path, lock: lock)
  }

  /// Makes one change. It is on the disk when this returns.
  func write<Answer: Sendable>(_ change: @escaping @Sendable (Database) throws -> Answer) async throws -> Answer {
    try await writer.write(change)
  }

  /// Repeats a change of some rows, each time in a transaction of its own, until it returns 0. Returns the sum.
  func writeInBatches(_ change: @escaping @Sendable (Database) throws -> Int) async throws -> Int {
    var total = 0
    while true {
      let count = try await write(change)
      if count == 0 { return total }
      total += count
    }
  }

  /// Runs `body` outside of a transaction, alone, under the lock.
  func alone<Answer: Sendable>(_ body: @escaping @Sendable (Database) throws -> Answer) async throws -> Answer {
    try await writer.alone(body)
  }

  /// Reads committed data. All answers are of the same moment.
  func read<Answer: Sendable>(_ question: @escaping @Sendable (Database) throws -> Answer) async throws -> Answer {
    do { return try await pool.read(question) } catch { throw meaning(of: error) }
  }

  /// Runs one statement without a transaction around it, in half the time. Two statements would see different moments.
  func ask<Answer: Sendable>(_ question: @escaping @Sendable (Database) throws -> Answer) async throws -> Answer {
    do { return try await pool.unsafeRead(question) } catch { throw meaning(of: error) }
  }

  /// GRDB interrupts the statement of a cancelled task.
  private func meaning(of error: any Error) -> any Error {
    let wasInterrupted = (error as? DatabaseError)?.resultCode == .SQLITE_INTERRUPT
    return wasInterrupted && Task.isCancelled ? CancellationError() : writer.meaning(of: error)
  }

  /// Calls `listener` after every change, on the writer's thread. It must return quickly and not call the ledger.
  package func onCommit(_ listener: @escaping @Sendable () -> Void) { writer.onCommit(listener) }

  /// Calls `listener` once if the disk did not confirm a change or the file is damaged. Nothing is written after that;
  /// the process must end without closing the ledger.
  package func onFailure(_ listener: @escaping @Sendable (LedgerError) -> Void) { writer.onFailure(listener) }

  /// Makes the data of a process that died durable: copies the write-ahead log into the ledger and empties it. An
  /// unconfirmed log may exist only in the kernel's memory. It reads as intact, and whatever is appended to it is lost
  /// with it at the next power cut. Only for a process that uses the ledger alone.
  package func settle() async throws {
    try await alone { database in _ = try database.checkpoint(.truncate) }
  }

  /// The size in bytes up to which a ledger is checked before any work; that takes a fraction of a second.
  package static let soonChecked = 64 << 20

  /// The size of the file.
  package func bytes() async throws -> Int {
    try await read { database in
      try Int.fetchOne(database, sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size") ?? 0
    }
  }

  /// Checks the whole ledger for damage, in time proportional to its size. Changes go on meanwhile, and their log is
  /// copied afterwards. Cancelling the task ends the check.
  ///
  /// - Throws: `LedgerError.damaged` with SQLite's first finding; nothing is written after that.
  package func checkIntegrity() async throws {
    try await read { database in
      let fault = try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? "no answer"
      if fault != "ok" { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: fault) }
    }
  }

  /// Returns once all earlier changes are made.
  package func answers() async throws { try await write { _ in } }

  package static var sqliteVersion: String { String(cString: sqlite3_libversion()) }

  /// Ends all access after a last checkpoint under the lock. The file is then complete without its log.
  package func close() throws { try writer.close() }

  /// The longest wait for SQLite's own lock, in seconds.
  static let patience = 10.0

  private static func configuration() -> Configuration {
    var configuration = Configuration()
    configuration.label = "ledger"
    configuration.maximumReaderCount = 3
    // Only other programs can hold SQLite's own lock; ours is taken first.
    configuration.busyMode = .timeout(Self.patience)
    configuration.prepareDatabase { database in
      // Temporary data stays in memory. By default it goes to /var/tmp, where the daemon may lack permission and room.
      try database.execute(sql: "PRAGMA secure_delete = ON; PRAGMA cache_size = -4096; PRAGMA temp_store = MEMORY")
      // Incremental vacuum can be enabled without a copy only in a new ledger.
      if try Int.fetchOne(database, sql: "PRAGMA page_count") == 0 {
        try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
      }
    }
    return configuration
  }

  private static func assertDurable(_ pool: DatabasePool) throws {
    let (journal, synchronous, secureDelete, vfs) = try pool.writeWithoutTransaction { database in
      (
        try String.fetchOne(database, sql: "PRAGMA journal_mode"),
        try Int.fetchOne(database, sql: "PRAGMA synchronous"),
        try Int.fetchOne(database, sql: "PRAGMA secure_delete"),
        database.vfs
      )
    }
    guard secureDelete == 1, vfs == CleanPages.vfs else {
      throw LedgerError.notDurable(
        "secure_delete is \(secureDelete ?? -1), the VFS is \(vfs ?? "?") instead of 1 and \(CleanPages.vfs), so that a purge would leave traces"
      )
    }
    guard journal == "wal", synchronous == 2 else {
      throw LedgerError.notDurable(
        "journal_mode is \(journal ?? "?"), synchronous is \(synchronous ?? -1) instead of wal and 2")
    }
  }
}
