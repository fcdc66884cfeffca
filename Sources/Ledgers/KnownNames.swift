import GRDB

/// The names that a shell offers while somebody types: a few of them, by an index, whatever the ledger holds.
extension LedgerView {
  /// Names of requests that begin with `beginning`, in their order: those that wait, or all.
  public func requests(beginning: String, waiting: Bool, limit: Int) throws -> [String] {
    let condition = waiting ? "state IN ('queued','draft')" : "state <> 'abandoned'"
    return try read { database in
      try String.fetchAll(
        database,
        sql: """
          SELECT request FROM requests WHERE request >= ? AND request < ? AND \(condition)
          ORDER BY request LIMIT ?
          """,
        arguments: [beginning, Self.end(of: beginning), limit])
    }
  }

  /// Conversations that begin with `beginning`, in their order: those that are held, those that are not, or all.
  public func conversations(beginning: String, held: Bool? = nil, limit: Int) throws -> [String] {
    let condition = held.map { " AND held = \($0 ? 1 : 0)" } ?? ""
    return try read { database in
      try String.fetchAll(
        database,
        sql: """
          SELECT conversation FROM conversations WHERE conversation >= ? AND conversation < ?\(condition)
          ORDER BY conversation LIMIT ?
          """,
        arguments: [beginning, Self.end(of: beginning), limit])
    }
  }

  /// Behind all that begins with `text`: no character comes after the last one of Unicode.
  private static func end(of text: String) -> String { text + "\u{10FFFF}" }
}

extension Ledger {
  /// Those of `names` that no request has.
  public func unknownRequests(_ names: [String]) async throws -> [String] {
    try await read { database in
      try names.filter { name in
        try Bool.fetchOne(
          database, sql: "SELECT EXISTS (SELECT 1 FROM requests WHERE request = ?)", arguments: [name]) != true
      }
    }
  }
}
