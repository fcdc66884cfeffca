import GRDB

/// What the ledger keeps of photos that others sent.
extension LedgerSchema {
  /// Received photos that are to be fetched; the words of an index.
  static let wanted = "state = 'wanted'"
  /// Of a received photo `r`: fewer than `?` photos are fetched from its host now.
  static let hasTurn = """
    (r.host = '' OR r.host NOT IN
      (SELECT host FROM received WHERE state = 'downloading' GROUP BY host HAVING count(*) >= ?))
    """

  static func registerReceiving(in migrator: inout DatabaseMigrator) {
    migrator.registerMigration("v6 received photos") { database in
      try database.execute(
        sql: """
          ALTER TABLE conversations ADD COLUMN known INTEGER NOT NULL DEFAULT 0;
          UPDATE conversations SET known = 1 WHERE id IN (SELECT conversation_id FROM requests);

          CREATE TABLE received (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            message TEXT NOT NULL UNIQUE,
            inbox TEXT NOT NULL,
            conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
            remote TEXT NOT NULL,
            position INTEGER NOT NULL,
            own INTEGER NOT NULL DEFAULT 0,
            digest TEXT NOT NULL,
            attachment TEXT NOT NULL,
            state TEXT NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0,
            next_attempt INTEGER,
            cause TEXT,
            error TEXT,
            received_at INTEGER NOT NULL,
            wanted_at INTEGER,
            revealed_at INTEGER
          ) STRICT;
          CREATE UNIQUE INDEX received_remote ON received(inbox, remote, position);
          CREATE INDEX received_by_remote ON received(remote);
          CREATE INDEX received_conversation ON received(conversation_id, id);
          CREATE INDEX received_wanted ON received(next_attempt, id) WHERE \(wanted);
          CREATE INDEX received_downloading ON received(id) WHERE state = 'downloading';
          """)
    }
  }
}
