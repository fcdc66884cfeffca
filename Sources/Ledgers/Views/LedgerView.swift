import DurableFiles
import GRDB
import Messages

/// Read-only access for tools, with or without a running daemon.
package struct LedgerView: Sendable {
  private let database: any DatabaseReader

  /// Opens the ledger in `state` for reading.
  ///
  /// - Parameter readers: the questions that may be asked at once.
  /// - Throws: `LedgerError`; `.missing` if it is empty, `.older` if it needs an upgrade.
  package init(in state: Directory, readers: Int = 1) throws {
    let path = state.path(of: Ledger.fileName)
    guard try state.entry(Ledger.fileName) != nil else { throw LedgerError.missing(path: path) }
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(10)
    do {
      configuration.maximumReaderCount = readers
      database =
        readers == 1
        ? try DatabaseQueue(path: path, configuration: configuration)
        : try DatabasePool(path: path, configuration: configuration)
    } catch let error as DatabaseError {
      throw LedgerError(reading: path, error)
    }
    let migrator = Upgrade.migrator
    if try read(Upgrade.isNewer) { throw LedgerError.newer(path: path) }
    try read { database in
      if try migrator.hasCompletedMigrations(database) { return }
      // A daemon may be making the tables right now.
      throw try Upgrade.isUsed(database) ? LedgerError.older(path: path) : LedgerError.missing(path: path)
    }
  }

  /// As `init(in:)`; nil if there is no ledger or an empty one.
  package init?(ifThereIsOneIn state: Directory) throws {
    do { try self.init(in: state) } catch LedgerError.missing { return nil }
  }

  /// As `init(ifThereIsOneIn:)` for repeated calls; also nil if it cannot be read now.
  package init?(ifReadable state: Directory) throws {
    do { try self.init(ifThereIsOneIn: state) } catch let error as LedgerError where error.mayPass { return nil }
  }

  /// Runs one query. Errors of SQLite and of decoding become `LedgerError`.
  func read<Answer>(_ question: (Database) throws -> Answer) throws -> Answer {
    do { return try database.read(question) } catch let error as DatabaseError {
      throw LedgerError(reading: database.path, error)
    } catch  where error is RowDecodingError || error is DecodingError {
      throw LedgerError.damaged(path: database.path, fault: "a row holds a value that cannot be read")
    }
  }

  /// Visits the records of a query one by one, in constant memory.
  func forEach<Record: FetchableRecord>(
    _ sql: String, _ arguments: StatementArguments, _ visit: (Record) throws -> Void
  ) throws {
    try read { try Record.fetchCursor($0, sql: sql, arguments: arguments).forEach(visit) }
  }

  /// The column `conversation` as shown, like `ConversationID.description`.
  static let conversation =
    "iif(unicode(c.conversation) = 1, 'profile~' || substr(c.conversation, 2), c.conversation) AS conversation"
}

/// The conditions whose values are given, each after an AND, and these values.
func restriction(_ conditions: (sql: String, value: String?)...) -> (sql: String, values: StatementArguments) {
  let given = conditions.filter { $0.value != nil }
  return (given.map { " AND \($0.sql)" }.joined(), StatementArguments(given.map(\.value)))
}

extension Timestamp: DatabaseValueConvertible {
  package var databaseValue: DatabaseValue { milliseconds.databaseValue }

  package static func fromDatabaseValue(_ value: DatabaseValue) -> Timestamp? {
    Int64.fromDatabaseValue(value).map(Timestamp.init(milliseconds:))
  }
}

/// For rows of the ledger only, whose names were checked before.
extension TextID where Self: Decodable {
  package init(from decoder: any Decoder) throws { self.init(unchecked: try String(from: decoder)) }
}

extension MessageID: Decodable {}
extension ConversationID: Decodable {}
extension InboxID: Decodable {}

extension LedgerView {
  /// Checks the ledger for damage.
  ///
  /// - Returns: a sentence for a good one.
  /// - Throws: `LedgerError.damaged` with the first finding.
  package func checkIntegrity() throws -> String {
    let (fault, waiting) = try read { database in
      (
        try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? "no answer",
        try Int.fetchOne(database, sql: "SELECT coalesce(sum(waiting), 0) FROM conversations") ?? 0
      )
    }
    if fault != "ok" { throw LedgerError.damaged(path: database.path, fault: fault) }
    return "intact, \(counted(waiting, "message")) waiting; SQLite \(Ledger.sqliteVersion)"
  }

  /// Whether any message waits.
  package func hasWaiting() throws -> Bool {
    try read { try $0.exists("conversations WHERE waiting > 0") }
  }

  /// The number of waiting messages in each conversation, by age. `minutes` are the upper bounds of the buckets; one
  /// more holds the older messages. Conversations with the most waiting messages come first.
  package func shape(minutes: [Int], at now: Timestamp) throws -> [(conversation: String, counts: [Int])] {
    let columns = Self.ageColumns("r.accepted_at", minutes, at: now)
    return try read { database in
      try Row.fetchAll(
        database,
        sql: """
          SELECT c.conversation, count(*) AS total, \(columns.joined(separator: ", "))
          FROM messages m JOIN requests r ON r.id = m.request_id JOIN conversations c ON c.id = m.conversation_id
          WHERE m.draft = 0 AND \(LedgerSchema.waiting(in: "m.")) GROUP BY c.id ORDER BY total DESC, c.conversation
          """
      ).map { row in
        (ConversationID(unchecked: row["conversation"]).description, columns.indices.map { row["bucket\($0)"] })
      }
    }
  }

  /// Columns that count rows by the age of a time, as `shape`.
  static func ageColumns(_ time: String, _ minutes: [Int], at now: Timestamp) -> [String] {
    let bounds = [Int64.max] + minutes.map { now.milliseconds - Int64($0) * 60_000 } + [Int64.min]
    return zip(bounds, bounds.dropFirst()).enumerated().map { index, bound in
      "count(*) FILTER (WHERE \(time) <= \(bound.0) AND \(time) > \(bound.1)) AS bucket\(index)"
    }
  }
}
