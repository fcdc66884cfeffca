import GRDB

/// Names for completion in a shell: a few, read from an index, whatever the size of the ledger.
extension LedgerView {
  /// Request names that begin with `beginning`, sorted: the waiting ones, or all.
  package func requests(beginning: String, waiting: Bool, limit: Int) throws -> [String] {
    let condition = waiting ? "state IN ('queued','draft')" : "state <> 'abandoned'"
    return try read { database in
      try database.values(
        "SELECT request FROM requests WHERE request >= ? AND request < ? AND \(condition) ORDER BY request LIMIT ?",
        beginning, Self.end(of: beginning), limit)
    }
  }

  /// Conversations that begin with `beginning`, sorted: the held ones, the others, or all.
  package func conversations(beginning: String, held: Bool? = nil, limit: Int) throws -> [String] {
    let condition = held.map { " AND held = \($0 ? 1 : 0)" } ?? ""
    return try read { database in
      try database.values(
        """
        SELECT conversation FROM conversations WHERE conversation >= ? AND conversation < ?\(condition)
        ORDER BY conversation LIMIT ?
        """, beginning, Self.end(of: beginning), limit)
    }
  }

  /// An upper bound for all texts that begin with `text`; U+10FFFF is the last character of Unicode.
  private static func end(of text: String) -> String { text + "\u{10FFFF}" }
}

extension Ledger {
  /// The number of names that no request has, and the first of them. One statement asks for each batch; sorted names
  /// take a third of the time, because neighbours are on one page.
  ///
  /// - Parameter list: passes on request names, some thousands at a time.
  package func unknownRequests(
    _ list: @escaping @Sendable (_ ask: ([String]) throws -> Void) throws -> Void
  ) async throws -> (count: Int, first: String?) {
    try await read { database in
      var (count, first) = (0, String?.none)
      try list { names in
        // Request names contain nothing that JSON escapes.
        let array = "[\"\(names.sorted().joined(separator: "\",\""))\"]"
        let unknown: [String] = try database.values(
          "SELECT value FROM json_each(?) WHERE NOT EXISTS (SELECT 1 FROM requests WHERE request = value)", array)
        for name in unknown {
          count += 1
          first = first.map { min($0, name) } ?? name
        }
      }
      return (count, first)
    }
  }
}
