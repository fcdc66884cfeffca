import FoundationEssentials
import GRDB

/// Earlier versions whose ledgers are kept as SQL: the first; one with received photos and without counts; the last
/// with several migrations; the first with one schema; and one with places of profile photos under the same name.
package enum EarlierProgram: String, CaseIterable, Sendable {
  case first = "v1"
  case ninth = "v9"
  case last = "v16"
  case oneSchema = "v18"
  case places = "v18-places"

  /// Makes a ledger of this version, empty or with these rows.
  package func makeLedger(
    at path: String, holding rows: String = "", _ more: @Sendable (Database) throws -> Void = { _ in }
  ) throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("ledgers")
    let pool = try DatabasePool(path: path)
    try pool.write { database in
      // Its triggers call functions of that version.
      for name in ["tally", "latest"] { database.add(function: DatabaseFunction(name, argumentCount: 2) { _ in nil }) }
      for program in Self.allCases.prefix(through: Self.allCases.firstIndex(of: self) ?? 0) {
        let file = folder.appendingPathComponent("\(program.rawValue).sql")
        try database.execute(sql: String(contentsOf: file, encoding: .utf8))
      }
      try database.execute(sql: rows)
      try more(database)
    }
    try pool.close()
  }

  /// A waiting text: message `m` of request `a`, to `family`.
  package static let waitingText = """
    INSERT INTO conversations (conversation, waiting) VALUES ('family', 1);
    INSERT INTO requests (request, dropped_as, inode, born, conversation_id, inbox, state, bytes, accepted_at)
      VALUES ('a', 'a', 1, 1, 1, 'me', 'queued', 5, 1);
    INSERT INTO messages (message, request_id, conversation_id, position, kind, file, bytes, digest, state)
      VALUES ('m', 1, 1, 0, 'text', 'text', 5, 'd', 'pending');
    """
}
