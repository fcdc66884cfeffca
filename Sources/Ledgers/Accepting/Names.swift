import GRDB
import Messages

/// A name is no identity: several requests may have been dropped under one, and a directory is known by its inode and time of
/// birth. What clients ask for by name is the newest.
extension Database {
  /// The request that was accepted last of those that are called `name` or were dropped under it.
  func newest(_ name: String) throws -> String? {
    // The names of those that found theirs taken begin with it: so an index tells, whatever the ledger holds.
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

  /// The request that a directory in `new/` or `draft/` is to the ledger, which may be about to move it.
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
