import GRDB
import GRDBSQLite

/// A row of a table. One list of columns writes it and reads it.
protocol TableRow: Sendable {
  /// The statements on the table.
  static var table: Table { get }
  init()
  /// Shows all columns with their values, always in this order.
  mutating func visit(_ column: inout some ColumnVisitor)
}

protocol ColumnVisitor {
  /// The number of the row, which SQLite gives.
  mutating func number(_ value: inout Int64)
  mutating func callAsFunction<Value: SQLiteValue>(_ name: String, _ value: inout Value)
}

extension ColumnVisitor {
  mutating func callAsFunction<First: SQLiteValue, Second: SQLiteValue, Third: SQLiteValue>(
    _ first: String, _ one: inout First, _ second: String, _ two: inout Second, _ third: String, _ three: inout Third
  ) {
    self(first, &one)
    self(second, &two)
    self(third, &three)
  }
}

/// The parts of statements that a list of columns makes.
struct Table: Sendable {
  fileprivate let insert: String
  fileprivate let select: String
  private let columns: [String]

  init<Row: TableRow>(_ name: String, of _: Row.Type) {
    var (row, list) = (Row(), ColumnNames())
    row.visit(&list)
    let marks = list.values.map { _ in "?" }.joined(separator: ", ")
    columns = list.number + list.values
    select = "SELECT \(columns.joined(separator: ", ")) FROM \(name) "
    insert = "INSERT OR FAIL INTO \(name) (\(list.values.joined(separator: ", "))) VALUES (\(marks)) "
  }

  /// All columns, for the words after SELECT.
  func columns(of alias: String) -> String { columns.map { "\(alias).\($0)" }.joined(separator: ", ") }

  /// The changes of `INSERT … ON CONFLICT` in the row that is there.
  static func replacing(_ columns: String...) -> String {
    columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
  }
}

extension Database {
  /// Writes a new row.
  ///
  /// - Parameter conflict: `ON CONFLICT …`, if one is expected.
  /// - Returns: its number; nil if nothing was written.
  @discardableResult
  func insert<Row: TableRow>(_ row: Row, _ conflict: String = "") throws -> Int64? {
    let statement = try kept(Row.table.insert + conflict)
    var (row, binder) = (row, Binder(statement.sqliteStatement))
    row.visit(&binder)
    try step(statement, bound: binder.result) { _ in false }
    return changesCount == 0 ? nil : lastInsertedRowID
  }

  /// The first row of a table that meets the conditions.
  func first<Row: TableRow, each Value: SQLiteValue>(
    _: Row.Type, _ conditions: String, _ values: repeat each Value
  ) throws -> Row? {
    try first(Row.table.select + conditions, repeat each values) { $0.row() }
  }

  /// All rows of a table that meet the conditions.
  func all<Row: TableRow, each Value: SQLiteValue>(
    _: Row.Type, _ conditions: String, _ values: repeat each Value
  ) throws -> [Row] {
    try all(Row.table.select + conditions, repeat each values) { $0.row() }
  }
}

extension Columns {
  /// The row whose columns come first.
  func row<Row: TableRow>() -> Row {
    var rows = RowReader(self)
    return rows.next()
  }
}

private struct ColumnNames: ColumnVisitor {
  var number: [String] = []
  var values: [String] = []

  mutating func number(_: inout Int64) { number = ["id"] }
  mutating func callAsFunction<Value: SQLiteValue>(_ name: String, _: inout Value) { values.append(name) }
}

struct Binder: ColumnVisitor {
  let statement: SQLiteStatement
  private var count: Int32 = 0
  private(set) var result = SQLITE_OK

  init(_ statement: SQLiteStatement) { self.statement = statement }

  mutating func number(_: inout Int64) {}
  mutating func callAsFunction<Value: SQLiteValue>(_: String, _ value: inout Value) { bind(value) }

  mutating func bind<Value: SQLiteValue>(_ value: Value) {
    count += 1
    if result == SQLITE_OK { result = value.bind(to: statement, at: count) }
  }

  /// The result, once all values are bound.
  var end: Int32 { result == SQLITE_OK && count != sqlite3_bind_parameter_count(statement) ? SQLITE_RANGE : result }
}

/// Reads rows of tables whose columns follow one another. A row without a match has the values for NULL.
struct RowReader: ColumnVisitor {
  private let statement: SQLiteStatement
  private var column: Int32 = 0

  init(_ columns: borrowing Columns) { statement = columns.statement }

  mutating func number(_ value: inout Int64) { self("id", &value) }

  /// A word that this program does not know leaves the value as it is by default.
  mutating func callAsFunction<Value: SQLiteValue>(_: String, _ value: inout Value) {
    if let found = Value.read(statement, column) { value = found }
    column += 1
  }

  mutating func next<Row: TableRow>() -> Row {
    var row = Row()
    row.visit(&self)
    return row
  }
}
