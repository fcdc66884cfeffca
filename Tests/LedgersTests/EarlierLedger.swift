import GRDB

@testable import Ledgers

/// Makes a ledger as a program left it that knew the migrations up to this one: a text waits in it, the message `m` of the
/// request `a`, to `family`.
func makeLedger(at path: String, upTo migration: String) throws {
  let pool = try DatabasePool(path: path)
  try LedgerSchema.migrator.migrate(pool, upTo: migration)
  try pool.write { database in
    try database.execute(
      sql: """
        INSERT INTO conversations (conversation, waiting) VALUES ('family', 1);
        INSERT INTO requests (request, dropped_as, inode, born, conversation_id, inbox, state, bytes, accepted_at)
          VALUES ('a', 'a', 1, 1, 1, 'me', 'queued', 5, 1);
        INSERT INTO messages (message, request_id, conversation_id, position, kind, file, bytes, digest, state)
          VALUES ('m', 1, 1, 0, 'text', 'text', 5, 'd', 'pending');
        """)
  }
  try pool.close()
}
