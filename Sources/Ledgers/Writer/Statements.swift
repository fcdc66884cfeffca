import Clusters
import GRDB
import GRDBSQLite
import Glibc
import Messages

/// Statements with cached plans, because making a plan costs more than running it. Their texts contain no values.
///
/// The hottest ones say OR FAIL, which saves a fifth of their time: SQLite then prepares no rollback of a single
/// statement. A failed statement is rolled back with its whole change (`GroupCommit`).
///
/// Values are bound and read directly. GRDB boxes values and copies rows by column name: with its statements the daemon
/// executes a quarter more instructions for a text (docs/decisions/0016-tuning.md). Errors are GRDB's.
extension Database {
  /// A statement with a cached plan. Do not run it again while its rows are read.
  func kept(_ sql: String) throws -> Statement { try cachedStatement(sql: sql) }

  /// Runs a statement with a cached plan.
  func run<each Value: SQLiteValue>(_ sql: String, _ values: repeat each Value) throws {
    try step(sql, repeat each values) { _ in false }
  }

  /// The first row of a cached statement, if any.
  func first<Answer, each Value: SQLiteValue>(
    _ sql: String, _ values: repeat each Value, read: (borrowing Columns) -> Answer
  ) throws -> Answer? {
    var answer: Answer?
    try step(sql, repeat each values) { columns in
      answer = read(columns)
      return false
    }
    return answer
  }

  /// The only column of that row; nil when there is no row.
  func value<Answer: SQLiteValue, each Value: SQLiteValue>(
    _ sql: String, _ values: repeat each Value
  ) throws -> Answer? {
    try first(sql, repeat each values) { Answer.read($0.statement, 0) } ?? nil
  }

  /// Whether there are such rows, as `TABLE WHERE …`.
  func exists<each Value: SQLiteValue>(_ rows: String, _ values: repeat each Value) throws -> Bool {
    try first("SELECT 1 FROM \(rows) LIMIT 1", repeat each values) { _ in true } ?? false
  }

  /// The only column of all rows.
  func values<Answer: SQLiteValue, each Value: SQLiteValue>(
    _ sql: String, _ values: repeat each Value
  ) throws -> [Answer] {
    try all(sql, repeat each values) { Answer.read($0.statement, 0) }.compactMap { $0 }
  }

  func all<Answer, each Value: SQLiteValue>(
    _ sql: String, _ values: repeat each Value, read: (borrowing Columns) -> Answer
  ) throws -> [Answer] {
    var answers: [Answer] = []
    try step(sql, repeat each values) { columns in
      answers.append(read(columns))
      return true
    }
    return answers
  }

  private func step<each Value: SQLiteValue>(
    _ sql: String, _ values: repeat each Value, row: (borrowing Columns) -> Bool
  ) throws {
    let statement = try kept(sql)
    var binder = Binder(statement.sqliteStatement)
    repeat binder.bind(each values)
    try step(statement, bound: binder.end, row: row)
  }

  /// - Parameters:
  ///   - bound: SQLite's result code for the values.
  ///   - row: called with each row; returns false to stop.
  func step(_ kept: Statement, bound: Int32, row: (borrowing Columns) -> Bool) throws {
    try withExtendedLifetime(kept) {
      let statement = kept.sqliteStatement
      defer { sqlite3_reset(statement) }
      var result = bound
      if result == SQLITE_OK {
        repeat { result = sqlite3_step(statement) } while result == SQLITE_ROW && row(Columns(statement))
      }
      guard result == SQLITE_ROW || result == SQLITE_DONE else {
        throw DatabaseError(resultCode: ResultCode(rawValue: result), message: lastErrorMessage, sql: kept.sql)
      }
    }
  }
}

/// A row, while it is read.
struct Columns: ~Copyable {
  let statement: SQLiteStatement

  fileprivate init(_ statement: SQLiteStatement) { self.statement = statement }

  subscript<Value: SQLiteValue>(name: StaticString) -> Value {
    let bytes = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    for column in 0..<sqlite3_column_count(statement) where strcmp(sqlite3_column_name(statement, column), bytes) == 0 {
      guard let value = Value.read(statement, column) else { break }
      return value
    }
    preconditionFailure("no column \(name), or none of such values")
  }
}

/// A value of a placeholder or a column.
protocol SQLiteValue {
  /// - Parameter index: from 1 on.
  /// - Returns: SQLite's result code.
  func bind(to statement: SQLiteStatement, at index: Int32) -> Int32

  /// - Parameter column: from 0 on. NULL is 0, false or empty; nil for a word that is none of these.
  static func read(_ statement: SQLiteStatement, _ column: Int32) -> Self?
}

/// Numbers keep their bits; a large unsigned one is negative in SQLite.
extension SQLiteValue where Self: FixedWidthInteger {
  func bind(to statement: SQLiteStatement, at index: Int32) -> Int32 {
    sqlite3_bind_int64(statement, index, Int64(truncatingIfNeeded: self))
  }
  static func read(_ statement: SQLiteStatement, _ column: Int32) -> Self? {
    Self(truncatingIfNeeded: sqlite3_column_int64(statement, column))
  }
}

extension Int: SQLiteValue {}
extension Int64: SQLiteValue {}
extension UInt64: SQLiteValue {}

extension Bool: SQLiteValue {
  func bind(to statement: SQLiteStatement, at index: Int32) -> Int32 { (self ? 1 : 0).bind(to: statement, at: index) }
  static func read(_ statement: SQLiteStatement, _ column: Int32) -> Self? {
    sqlite3_column_int64(statement, column) != 0
  }
}

extension String: SQLiteValue {
  func bind(to statement: SQLiteStatement, at index: Int32) -> Int32 {
    var text = self
    return text.withUTF8 { bytes in
      // An empty buffer has no address, which would mean NULL.
      guard let start = bytes.baseAddress else { return sqlite3_bind_text(statement, index, "", 0, Self.copied) }
      return start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
        sqlite3_bind_text(statement, index, $0, Int32(bytes.count), Self.copied)
      }
    }
  }

  static func read(_ statement: SQLiteStatement, _ column: Int32) -> Self? {
    guard let bytes = sqlite3_column_text(statement, column) else {
      // SQLite reports missing memory like NULL, and NULL must not be taken for an empty text then.
      precondition(sqlite3_errcode(sqlite3_db_handle(statement)) != SQLITE_NOMEM, "no memory for a text of the ledger")
      return ""
    }
    let count = Int(sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  /// SQLITE_TRANSIENT, which Swift does not import: SQLite copies the value before the call returns.
  private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}

extension Timestamp: SQLiteValue {
  package func bind(to statement: SQLiteStatement, at index: Int32) -> Int32 {
    milliseconds.bind(to: statement, at: index)
  }
  static func read(_ statement: SQLiteStatement, _ column: Int32) -> Self? {
    Self(milliseconds: sqlite3_column_int64(statement, column))
  }
}

extension SQLiteValue where Self: TextID {
  func bind(to statement: SQLiteStatement, at index: Int32) -> Int32 { text.bind(to: statement, at: index) }
  static func read(_ statement: SQLiteStatement, _ column: Int32) -> Self? {
    String.read(statement, column).map(Self.init(unchecked:))
  }
}

extension SQLiteValue where Self: RawRepresentable<String> {
  func bind(to statement: SQLiteStatement, at index: Int32) -> Int32 { rawValue.bind(to: statement, at: index) }
  static func read(_ statement: SQLiteStatement, _ column: Int32) -> Self? {
    String.read(statement, column).flatMap(Self.init(rawValue:))
  }
}

extension MessageID: SQLiteValue {}
extension ConversationID: SQLiteValue {}
extension InboxID: SQLiteValue {}
extension SenderID: SQLiteValue {}
extension Recipient: SQLiteValue {}
extension HostID: SQLiteValue {}
extension RecordID: SQLiteValue {}
extension RequestState: SQLiteValue {}
extension MessageState: SQLiteValue {}
extension MessageKind: SQLiteValue {}
extension ReceivedState: SQLiteValue {}
extension Cause: SQLiteValue {}
extension FetchPolicy: SQLiteValue {}

extension Optional: SQLiteValue where Wrapped: SQLiteValue {
  func bind(to statement: SQLiteStatement, at index: Int32) -> Int32 {
    self?.bind(to: statement, at: index) ?? sqlite3_bind_null(statement, index)
  }

  static func read(_ statement: SQLiteStatement, _ column: Int32) -> Self? {
    .some(sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : Wrapped.read(statement, column))
  }
}
