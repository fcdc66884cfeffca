import GRDB
import GRDBSQLite
import Messages

/// Statements with cached plans, because making a plan costs more than running it. Their texts contain no values.
///
/// The hottest ones say OR FAIL, which saves a fifth of their time: SQLite then prepares no rollback of a single
/// statement. A failed statement is rolled back with its whole change (`GroupCommit`).
///
/// Values are bound and read directly. GRDB boxes values and copies rows by column name, which took as long as SQLite's
/// own work for a text. Errors are GRDB's.
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

  /// The first column of that row.
  func value<Answer: SQLiteValue, each Value: SQLiteValue>(
    _ sql: String, _ values: repeat each Value
  ) throws -> Answer? {
    try first(sql, repeat each values) { $0[0] }
  }

  /// All rows of a cached statement.
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

  /// - Parameter row: called with each row; returns false to stop.
  private func step<each Value: SQLiteValue>(
    _ sql: String, _ values: repeat each Value, row: (borrowing Columns) -> Bool
  ) throws {
    let kept = try kept(sql)
    try withExtendedLifetime(kept) {
      let statement = kept.sqliteStatement
      defer { sqlite3_reset(statement) }
      var count: Int32 = 0
      var result = SQLITE_OK
      for value in repeat each values {
        count += 1
        if result == SQLITE_OK { result = value.bind(to: statement, at: count) }
      }
      if result == SQLITE_OK && count != sqlite3_bind_parameter_count(statement) { result = SQLITE_RANGE }
      if result == SQLITE_OK {
        repeat { result = sqlite3_step(statement) } while result == SQLITE_ROW && row(Columns(statement))
      }
      guard result == SQLITE_ROW || result == SQLITE_DONE else {
        throw DatabaseError(resultCode: ResultCode(rawValue: result), message: lastErrorMessage, sql: sql)
      }
    }
  }
}

/// A row, while it is read.
struct Columns: ~Copyable {
  private let statement: SQLiteStatement

  fileprivate init(_ statement: SQLiteStatement) { self.statement = statement }

  /// The column at `index`, from 0, in the order of SELECT.
  subscript<Value: SQLiteValue>(index: Int32) -> Value { Value(column: index, of: statement) }

  subscript<Value: SQLiteValue, Name: ColumnName>(name: Name) -> Value { self[name.rawValue] }

  func time<Name: ColumnName>(_ name: Name) -> Timestamp? { time(name.rawValue) }
  func time(_ index: Int32) -> Timestamp? { (self[index] as Int64?).map(Timestamp.init(milliseconds:)) }
}

/// The columns of a query in order. SELECT and the reading code share the list.
protocol ColumnName: CaseIterable, RawRepresentable<Int32> {
  /// Its expression in SELECT.
  var sql: String { get }
}

extension ColumnName {
  /// All columns, for SELECT.
  static var selected: String { allCases.map(\.sql).joined(separator: ", ") }
}

/// A value of a parameter or a column.
protocol SQLiteValue {
  /// - Parameter index: from 1.
  /// - Returns: SQLite's result code.
  func bind(to statement: SQLiteStatement, at index: Int32) -> Int32

  /// - Parameter column: from 0. NULL reads as 0, false or empty.
  init(column: Int32, of statement: SQLiteStatement)
}

extension Int64: SQLiteValue {
  func bind(to statement: SQLiteStatement, at index: Int32) -> Int32 { sqlite3_bind_int64(statement, index, self) }
  init(column: Int32, of statement: SQLiteStatement) { self = sqlite3_column_int64(statement, column) }
}

extension Int: SQLiteValue {
  func bind(to statement: SQLiteStatement, at index: Int32) -> Int32 { Int64(self).bind(to: statement, at: index) }
  init(column: Int32, of statement: SQLiteStatement) { self = Int(Int64(column: column, of: statement)) }
}

extension Bool: SQLiteValue {
  func bind(to statement: SQLiteStatement, at index: Int32) -> Int32 { (self ? 1 : 0).bind(to: statement, at: index) }
  init(column: Int32, of statement: SQLiteStatement) { self = Int64(column: column, of: statement) != 0 }
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

  init(column: Int32, of statement: SQLiteStatement) {
    guard let bytes = sqlite3_column_text(statement, column) else {
      // Without memory SQLite answers as for NULL, which must not be read as an empty text.
      precondition(sqlite3_errcode(sqlite3_db_handle(statement)) != SQLITE_NOMEM, "no memory for a text of the ledger")
      self = ""
      return
    }
    let count = Int(sqlite3_column_bytes(statement, column))
    self = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  /// SQLITE_TRANSIENT, which Swift does not import: SQLite copies the value before the call returns.
  private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}

extension Optional: SQLiteValue where Wrapped: SQLiteValue {
  func bind(to statement: SQLiteStatement, at index: Int32) -> Int32 {
    self?.bind(to: statement, at: index) ?? sqlite3_bind_null(statement, index)
  }

  init(column: Int32, of statement: SQLiteStatement) {
    let isNull = sqlite3_column_type(statement, column) == SQLITE_NULL
    self = isNull ? nil : Wrapped(column: column, of: statement)
  }
}
