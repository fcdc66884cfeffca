import CSQLite
import DurableFiles
import GRDB
import GRDBSQLite

/// The ledger: what is known of every request, in `state/ledger.sqlite`. One writer owns it; questions are one file each.
///
/// Guarantees: a change is on the disk when the call that made it returns (WAL, `synchronous=FULL`, checked at opening).
/// Changes that wait at the same time share one transaction, and with it one sync; each stands or falls by itself, in
/// the order of the calls. Every transaction, checkpoint and close happens under the kernel lock `state/ledger.lock`,
/// which other processes that write take too. Readers need no lock and see what was committed.
package final class Ledger: Sendable {
  let pool: DatabasePool
  private let writer: GroupCommit

  package static let fileName = "ledger.sqlite"
  package static let lockName = "ledger.lock"
  /// In `state/`: where a ledger is made anew.
  package static let workplaceName = "rebuild"
  /// In `state/`: what the directories of former ledgers begin with, which `rebuild` keeps.
  package static let formerPrefix = "ledger-"

  /// Opens the ledger in `state` and brings its schema up to date.
  ///
  /// - Parameter isOwn: nobody else works with it. A daemon of an earlier version could not go on with a later schema.
  /// - Throws: `LedgerError`; `.older` when the schema would have to be changed under somebody else.
  package init(in state: Directory, isOwn: Bool = true) throws {
    let path = state.path(of: Self.fileName)
    let lock = try FileLock(Self.lockName, in: state)
    try lock.acquire()
    defer { lock.release() }
    do {
      pool = try DatabasePool(path: path, configuration: Self.configuration())
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
        // Under the lock, as every close. What it cannot do now, the next one does.
        try? pool.close()
        throw refusal
      }
      // GRDB sets NORMAL on the writer when it turns the journal to WAL; a power cut would then take back commits.
      try pool.writeWithoutTransaction { database in
        try database.execute(
          sql: "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 16777216; PRAGMA wal_autocheckpoint = 0")
      }
      if try !pool.read(migrator.hasCompletedMigrations) {
        // The log of a process that died may not be on the disk; what the upgrade writes must not stand behind it.
        _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
      }
      try migrator.migrate(pool)
      // What a change can be taken back with stands in no file of its own, where rows would be left.
      try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA temp_store = MEMORY") }
      try Self.assertDurable(pool)
    } catch let error as DatabaseError {
      throw LedgerError(error, path: path)
        ?? LedgerError.damaged(path: path, fault: error.message ?? error.description)
    }
    writer = GroupCommit(pool: pool, lock: lock)
  }

  /// Makes one change. It is on the disk when this returns.
  func write<Answer: Sendable>(_ change: @escaping @Sendable (Database) throws -> Answer) async throws -> Answer {
    try await writer.write(change)
  }

  /// Does what cannot be done within a transaction, alone, under the lock.
  func alone<Answer: Sendable>(_ body: @escaping @Sendable (Database) throws -> Answer) async throws -> Answer {
    try await writer.alone(body)
  }

  /// Asks what was committed. All answers are of the same moment.
  func read<Answer: Sendable>(_ question: @escaping @Sendable (Database) throws -> Answer) async throws -> Answer {
    do { return try await pool.read(question) } catch { throw meaning(of: error) }
  }

  /// Asks what one statement answers: without a transaction around it, it takes half the time. The answers of two would be
  /// of different moments.
  func ask<Answer: Sendable>(_ question: @escaping @Sendable (Database) throws -> Answer) async throws -> Answer {
    do { return try await pool.unsafeRead(question) } catch { throw meaning(of: error) }
  }

  /// GRDB interrupts the question of a task that is cancelled.
  private func meaning(of error: any Error) -> any Error {
    let wasInterrupted = (error as? DatabaseError)?.resultCode == .SQLITE_INTERRUPT
    return wasInterrupted && Task.isCancelled ? CancellationError() : writer.meaning(of: error)
  }

  /// Has `listener` called after every change, on the writer's thread: it must return quickly and not ask the ledger.
  package func onCommit(_ listener: @escaping @Sendable () -> Void) { writer.onCommit(listener) }

  /// Has `listener` called, once, when the disk did not confirm a change or the file is damaged. Nothing is written any
  /// more, and the process has to end without closing the ledger.
  package func onFailure(_ listener: @escaping @Sendable (LedgerError) -> Void) { writer.onFailure(listener) }

  /// Makes what a process that died wrote safe to build on: the write-ahead log is copied into the ledger and emptied.
  ///
  /// A log that the disk did not confirm may be in the kernel's memory alone. Read from there it looks whole; and what is
  /// written behind it is lost with it at the next power cut. For whoever opens the ledger alone.
  package func settle() async throws {
    try await alone { database in _ = try database.checkpoint(.truncate) }
  }

  /// A ledger of so many bytes is looked through within a fraction of a second, before anything is done with it.
  package static let soonChecked = 64 << 20

  /// How large the file is.
  package func bytes() async throws -> Int {
    try await read { database in
      try Int.fetchOne(database, sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size") ?? 0
    }
  }

  /// Has SQLite look through the whole ledger for damage, which takes as long as the ledger is large. Changes go on
  /// meanwhile; their log is copied after it. It ends early when the task is cancelled.
  ///
  /// - Throws: `LedgerError.damaged` with the first fault that SQLite finds; nothing is written any more then.
  package func checkIntegrity() async throws {
    try await read { database in
      let fault = try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? "no answer"
      if fault != "ok" { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: fault) }
    }
  }

  /// Returns when a change that is asked for now would have been made: all that came before it was.
  package func answers() async throws { try await write { _ in } }

  /// Of the SQLite that the program runs with.
  package static var sqliteVersion: String { String(cString: sqlite3_libversion()) }

  /// Ends all access, after a last checkpoint under the lock. The file then holds everything by itself.
  package func close() throws { try writer.close() }

  /// Seconds in which SQLite waits for others.
  static let patience = 10.0

  /// Done once. Where the process has asked SQLite for something before, it comes too late and does no harm.
  private static let countsNoMemory: Void = csqlite_count_no_memory()

  private static func configuration() -> Configuration {
    _ = countsNoMemory
    var configuration = Configuration()
    configuration.label = "ledger"
    configuration.maximumReaderCount = 3
    // Only tools from outside can hold SQLite's own lock; ours is taken before.
    configuration.busyMode = .timeout(Self.patience)
    configuration.prepareDatabase { database in
      try CleanFile.keep(by: database)
      // What SQLite sets aside within a transaction stays in memory: by default it goes to a file in /var/tmp, where the
      // daemon may have no right, no room, and nothing to look for.
      try database.execute(sql: "PRAGMA secure_delete = ON; PRAGMA cache_size = -4096; PRAGMA temp_store = MEMORY")
      // Only a ledger that is just made can be told to give room back without being copied.
      if try Int.fetchOne(database, sql: "PRAGMA page_count") == 0 {
        try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
      }
    }
    return configuration
  }

  private static func assertDurable(_ pool: DatabasePool) throws {
    let (journal, synchronous, secureDelete) = try pool.writeWithoutTransaction { database in
      (
        try String.fetchOne(database, sql: "PRAGMA journal_mode"),
        try Int.fetchOne(database, sql: "PRAGMA synchronous"),
        try Int.fetchOne(database, sql: "PRAGMA secure_delete")
      )
    }
    guard secureDelete == 1 else {
      throw LedgerError.notDurable(
        "secure_delete is \(secureDelete ?? -1) instead of 1, so that a purge would leave traces")
    }
    guard journal == "wal", synchronous == 2 else {
      throw LedgerError.notDurable(
        "journal_mode is \(journal ?? "?"), synchronous is \(synchronous ?? -1) instead of wal and 2")
    }
  }
}
