import GRDB
import GRDBSQLite
import Synchronization

/// What triggers have counted within a transaction, until its end, when the sums are written into `counts`. A row of it that
/// each of them changed by itself was changed nine times for a text.
///
/// Triggers count by two functions, which they alone may call: `tally(name, n)` adds `n`, `latest(name, time)` keeps the
/// latest. Both leave out what is NULL.
final class Tallies: Sendable {
  private struct Sums {
    var added: [String: Int] = [:]
    var latest: [String: Int] = [:]
  }

  private let sums = Mutex(Sums())

  /// Has the triggers of this connection count here.
  func listen(to database: Database) throws {
    try add("tally", to: database) { tallies, name, value in
      tallies.sums.withLock { $0.added[name, default: 0] += value }
    }
    try add("latest", to: database) { tallies, name, value in
      tallies.sums.withLock { $0.latest[name] = max($0.latest[name] ?? value, value) }
    }
  }

  /// Forgets what a transaction has counted that came to nothing.
  func clear() { sums.withLock { $0 = Sums() } }

  /// Writes the sums, within the transaction that they are of.
  func write(to database: Database) throws {
    let sums = sums.withLock { sums in
      defer { sums = Sums() }
      return sums
    }
    for (name, count) in sums.added { try database.count(name, count) }
    for (name, time) in sums.latest {
      try database.run("UPDATE counts SET value = max(value, ?) WHERE name = ?", time, name)
    }
  }

  private typealias Taker = (Tallies, String, Int) -> Void

  /// What SQLite keeps of a function: where it counts, and how.
  private final class Function {
    let tallies: Tallies
    let take: Taker

    init(_ tallies: Tallies, _ take: @escaping Taker) {
      self.tallies = tallies
      self.take = take
    }
  }

  private func add(_ name: String, to database: Database, _ take: @escaping Taker) throws {
    let function = Unmanaged.passRetained(Function(self, take)).toOpaque()
    let result = sqlite3_create_function_v2(
      // A schema that is not trusted may call it, too. It is not deterministic: each call counts.
      database.sqliteConnection, name, 2, SQLITE_UTF8 | SQLITE_INNOCUOUS, function,
      { context, _, values in
        guard let function = sqlite3_user_data(context), let values, let value = values[1],
          let name = sqlite3_value_text(values[0]), sqlite3_value_type(value) != SQLITE_NULL
        else { return }
        let own = Unmanaged<Function>.fromOpaque(function).takeUnretainedValue()
        own.take(own.tallies, String(cString: name), Int(sqlite3_value_int64(value)))
      }, nil, nil,
      // Also when it fails.
      { function in function.map { Unmanaged<Function>.fromOpaque($0).release() } })
    guard result == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: result)) }
  }
}
