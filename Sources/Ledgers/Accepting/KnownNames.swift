import GRDB

/// The names that a shell offers while somebody types: a few of them, by an index, whatever the ledger holds.
extension LedgerView {
  /// Names of requests that begin with `beginning`, in their order: those that wait, or all.
  package func requests(beginning: String, waiting: Bool, limit: Int) throws -> [String] {
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
  package func conversations(beginning: String, held: Bool? = nil, limit: Int) throws -> [String] {
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
  /// Of the names that `list` hands on, how many no request has, and the first of them. Each batch is one question; sorted,
  /// it takes a third of the time, as neighbours lie on one page.
  ///
  /// - Parameter list: hands on names of requests, some thousands at a time.
  package func unknownRequests(
    _ list: @escaping @Sendable (_ ask: ([String]) throws -> Void) throws -> Void
  ) async throws -> (count: Int, first: String?) {
    try await read { database in
      let statement = try database.cachedStatement(
        sql: "SELECT value FROM json_each(?) WHERE NOT EXISTS (SELECT 1 FROM requests WHERE request = value)")
      var (count, first) = (0, String?.none)
      try list { names in
        // No character of a request's name means anything in JSON.
        let array = "[\"\(names.sorted().joined(separator: "\",\""))\"]"
        for name in try String.fetchAll(statement, arguments: [array]) {
          count += 1
          first = first.map { min($0, name) } ?? name
        }
      }
      return (count, first)
    }
  }
}
