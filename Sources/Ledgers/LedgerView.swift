import DurableFiles
import GRDB
import Glibc
import Messages

/// The ledger as tools look at it: read-only, briefly, beside a running daemon or without one.
public struct LedgerView: Sendable {
  private let queue: DatabaseQueue

  /// Opens the ledger in `state` for reading.
  ///
  /// - Throws: `LedgerError`; `.missing` when it holds nothing yet, `.older` when this version cannot read it yet.
  public init(in state: Directory) throws {
    let path = state.path(of: Ledger.fileName)
    guard try state.entry(Ledger.fileName) != nil else { throw LedgerError.missing(path: path) }
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(10)
    do {
      queue = try DatabaseQueue(path: path, configuration: configuration)
    } catch let error as DatabaseError {
      throw LedgerError(error, path: path)
        ?? LedgerError.damaged(path: path, fault: error.message ?? error.description)
    }
    let migrator = LedgerSchema.migrator
    if try read(migrator.hasBeenSuperseded) { throw LedgerError.newer(path: path) }
    try read { database in
      if try migrator.completedMigrations(database).contains(LedgerSchema.lastOfShape) { return }
      // A daemon that starts for the first time makes the tables at this moment.
      throw try LedgerSchema.isUsed(database) ? LedgerError.older(path: path) : LedgerError.missing(path: path)
    }
  }

  /// As `init(in:)`; nil where there is none, or one that holds nothing yet.
  public init?(ifThereIsOneIn state: Directory) throws {
    do { try self.init(in: state) } catch LedgerError.missing { return nil }
  }

  /// As `init(ifThereIsOneIn:)` for who looks again and again; nil, too, when it cannot be read at this moment.
  public init?(ifReadable state: Directory) throws {
    do { try self.init(in: state) } catch let error as LedgerError {
      if case .missing = error { return nil }
      if error.mayPass { return nil }
      throw error
    }
  }

  /// Asks one question; SQLite's own errors come out as the ledger's.
  func read<Answer>(_ question: (Database) throws -> Answer) throws -> Answer {
    do { return try queue.read(question) } catch let error as DatabaseError {
      throw LedgerError(error, path: queue.path)
        ?? LedgerError.damaged(path: queue.path, fault: error.message ?? error.description)
    }
  }
}

extension LedgerView {
  /// Has SQLite look for damage.
  ///
  /// - Returns: what is good about it. Throws `LedgerError.damaged` with the first fault found.
  public func checkIntegrity() throws -> String {
    let (fault, waiting) = try read { database in
      (
        try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? "no answer",
        try Int.fetchOne(database, sql: "SELECT coalesce(sum(waiting), 0) FROM conversations") ?? 0
      )
    }
    if fault != "ok" { throw LedgerError.damaged(path: queue.path, fault: fault) }
    return "intact, \(waiting) message\(waiting == 1 ? "" : "s") waiting; SQLite \(Ledger.sqliteVersion)"
  }
}

/// One line of `queue`.
public struct QueueLine: Sendable {
  public let request: String
  public let message: MessageID
  public let conversation: String
  public let inbox: String
  public let kind: MessageKind
  public let state: MessageState
  public let attempts: Int
  public let nextAttempt: Timestamp?
  public let error: String?
  public let acceptedAt: Timestamp
  /// Bytes of the file as dropped.
  public let bytes: Int
  /// Publishing in its conversation is stopped by `hold`.
  public let isHeld: Bool
  /// Its request is a draft: nobody has sent it yet.
  public let isDraft: Bool
}

/// A request that was not accepted.
public struct RefusedRequest: Sendable {
  /// Its name in `failed/`.
  public let request: String
  public let droppedAs: String
  public let inbox: String
  public let conversation: String?
  public let error: String?
  public let refusedAt: Timestamp
  public let bytes: Int
}

extension LedgerView {
  /// Visits the messages that wait, or those in `state`, in order of arrival. Memory does not grow with their number.
  ///
  /// - Parameter lying: directories that were found in `draft/` and `new/` before.
  /// - Returns: for each of these the request that it is, of the same moment; nil where none is known.
  @discardableResult
  public func forEachLine(
    state: MessageState? = nil, conversation: String? = nil, lying: [(inode: UInt64, born: Int64)] = [],
    _ visit: (QueueLine) throws -> Void
  ) throws -> [String?] {
    var conditions = [state.map { _ in "m.state = ?" } ?? LedgerSchema.waiting(in: "m."), "r.state <> 'abandoned'"]
    if conversation != nil { conditions.append("c.conversation = ?") }
    let arguments = [state?.rawValue, conversation].compactMap { $0 }
    return try read { database in
      let rows = try Row.fetchCursor(
        database,
        sql: """
          SELECT m.*, r.request, r.inbox, r.accepted_at, c.conversation, c.held
          FROM messages m JOIN requests r ON r.id = m.request_id JOIN conversations c ON c.id = m.conversation_id
          WHERE \(conditions.joined(separator: " AND ")) ORDER BY m.id
          """,
        arguments: StatementArguments(arguments))
      while let row = try rows.next() { try visit(QueueLine(row)) }
      return try lying.map { try database.arriving(inode: $0.inode, born: $0.born) }
    }
  }

  /// Visits the requests that were refused, longest ago first: none of them has a message.
  public func forEachRefused(conversation: String? = nil, _ visit: (RefusedRequest) throws -> Void) throws {
    try read { database in
      let rows = try Row.fetchCursor(
        database,
        sql: """
          SELECT r.request, r.dropped_as, r.inbox, r.error, r.accepted_at, r.bytes, c.conversation
          FROM requests r LEFT JOIN conversations c ON c.id = r.conversation_id
          WHERE r.state = 'failed' AND NOT EXISTS (SELECT 1 FROM messages WHERE request_id = r.id)
            AND (?1 IS NULL OR c.conversation = ?1) ORDER BY r.id
          """,
        arguments: [conversation])
      while let row = try rows.next() {
        try visit(
          RefusedRequest(
            request: row["request"], droppedAs: row["dropped_as"], inbox: row["inbox"],
            conversation: (row["conversation"] as String?).map { ConversationID(unchecked: $0).description },
            error: row["error"], refusedAt: Timestamp(milliseconds: row["accepted_at"]), bytes: row["bytes"]))
      }
    }
  }

  /// How many messages wait in each conversation, by age: the upper bounds of the buckets are `minutes`, and what is
  /// older than the last counts in one more. Conversations with the most waiting messages come first.
  public func shape(minutes: [Int], at now: Timestamp) throws -> [(conversation: String, counts: [Int])] {
    let age = "(\(now.milliseconds) - r.accepted_at) / 60000.0"
    let columns =
      (minutes.indices.map { index in
        let lower = index == 0 ? "" : "\(age) >= \(minutes[index - 1]) AND "
        return "count(*) FILTER (WHERE \(lower)\(age) < \(minutes[index]))"
      } + ["count(*) FILTER (WHERE \(age) >= \(minutes.last ?? 0))"]).joined(separator: ", ")
    return try read { database in
      try Row.fetchAll(
        database,
        sql: """
          SELECT c.conversation, count(*) AS total, \(columns)
          FROM messages m JOIN requests r ON r.id = m.request_id JOIN conversations c ON c.id = m.conversation_id
          WHERE m.draft = 0 AND \(LedgerSchema.waiting(in: "m.")) GROUP BY c.id ORDER BY total DESC, c.conversation
          """
      ).map { row in (ConversationID(unchecked: row[0]).description, (0...minutes.count).map { row[$0 + 2] }) }
    }
  }
}

extension QueueLine {
  init(_ row: Row) {
    request = row["request"]
    message = MessageID(unchecked: row["message"])
    conversation = ConversationID(unchecked: row["conversation"]).description
    inbox = row["inbox"]
    kind = MessageKind(rawValue: row["kind"]) ?? .photo
    state = MessageState(rawValue: row["state"]) ?? .pending
    attempts = row["attempts"]
    nextAttempt = (row["next_attempt"] as Int64?).map(Timestamp.init(milliseconds:))
    error = row["error"]
    acceptedAt = Timestamp(milliseconds: row["accepted_at"])
    bytes = row["bytes"]
    isHeld = row["held"]
    isDraft = row["draft"]
  }
}
