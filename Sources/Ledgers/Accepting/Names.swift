import GRDB

/// Lookup by name. Several requests may have been dropped under one name, and clients mean the newest. A directory is
/// identified by its inode and time of birth.
extension Database {
  /// The last accepted request that is called `name` or was dropped under it.
  func newest(_ name: String) throws -> String? {
    // Alternative names begin with the dropped one, so an index finds them.
    let beginning = name.utf8.count > 100 ? String(decoding: name.utf8.prefix(100), as: UTF8.self) : "\(name)."
    return try value(
      """
      SELECT request FROM (
        SELECT request, accepted_at, id FROM requests WHERE request = ?1
        UNION ALL SELECT request, accepted_at, id FROM requests
          WHERE request > ?2 AND request < ?2 || char(1114111) AND dropped_as = ?1
        UNION ALL SELECT request, accepted_at, id FROM requests
          WHERE request >= 'unnamed-' AND request < 'unnamed.' AND dropped_as = ?1
      ) ORDER BY accepted_at DESC, id DESC LIMIT 1
      """, name, beginning)
  }

  /// The request of a directory in `new/` or `draft/` that the ledger may be about to move.
  func arriving(inode: UInt64, born: Int64) throws -> String? {
    try value(
      """
      SELECT request FROM requests WHERE inode = ? AND born = ? AND (filed <> 1 OR state = 'draft')
      ORDER BY id DESC LIMIT 1
      """, Int64(bitPattern: inode), born)
  }
}

extension Ledger {
  package func newest(_ name: String) async throws -> String? { try await read { try $0.newest(name) } }

  package func arriving(inode: UInt64, born: Int64) async throws -> String? {
    try await read { try $0.arriving(inode: inode, born: born) }
  }
}

extension LedgerView {
  package func newest(_ name: String) throws -> String? { try read { try $0.newest(name) } }

  package func arriving(inode: UInt64, born: Int64) throws -> String? {
    try read { try $0.arriving(inode: inode, born: born) }
  }
}
