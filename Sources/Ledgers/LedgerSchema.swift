import GRDB

/// The tables. Migrations are an append-only list: each has a name, and none is ever edited. `docs/ledger.md` explains
/// every column.
enum LedgerSchema {
  // SQLite makes a table of every list of three or more, each time that a statement runs, and also where only an index
  // asks for it: a text cost eighteen of them. So the states are compared one by one.

  /// Messages that something will still happen to; the partial indexes are built with these very words. Those of drafts
  /// are among them: where a conversation's order is asked for, `draft = 0` goes with it.
  static let waiting = waiting(in: "")
  /// The same of a table that has another name in the statement, as `m.`.
  static func waiting(in table: String) -> String {
    "\(table)state <> 'sent' AND \(table)state <> 'failed' AND \(table)state <> 'cancelled'"
  }
  /// For `FROM messages`: of a conversation, only what waits and is no draft is looked at. By itself SQLite may prefer the
  /// index of all messages of the conversation, and go through what was sent in it for a week.
  static let byWaiting = "INDEXED BY messages_waiting"
  /// Requests that are over and whose directories are not at their last place; the words of an index, too.
  static let unfiled = "filed = 0 AND state <> 'queued' AND state <> 'draft' AND state <> 'abandoned'"
  /// Messages that a worker had in hand.
  static let inHand = "(state = 'preparing' OR state = 'uploading' OR state = 'uploaded')"
  /// Photos whose originals may be evicted, and those of which only the thumbnails are left to evict; words of indexes.
  static let evictable = "cached_bytes > 0 AND pinned = 0 AND evicting = 0"
  static let evictableThumbnails = "cached_bytes = 0 AND cached_thumbnail_bytes > 0 AND pinned = 0 AND evicting = 0"

  /// The name of the last migration that changed what is read. A ledger that has it is read as it is, whoever will bring it up
  /// to date.
  static let lastOfShape = "v14 attempts that succeed stand with their messages"

  /// The name of the janitor's note that pages hold remains of rows; what was only written by `CleanFile` has none.
  static let remains = "remains"
  /// The name of the janitor's note that the ledger was rebuilt, and does not know of what was stored before.
  static let rebuilt = "rebuilt"

  /// Whether a ledger of any version holds anything.
  static func isUsed(_ database: Database) throws -> Bool {
    guard try database.tableExists("requests") else { return false }
    return try ["requests", "conversations", "photos"].contains { table in
      try Row.fetchOne(database, sql: "SELECT 1 FROM \(table)") != nil
    }
  }

  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("v1 requests, messages, photos") { database in
      try database.execute(
        sql: """
          CREATE TABLE conversations (
            id INTEGER PRIMARY KEY,
            conversation TEXT NOT NULL UNIQUE,
            waiting INTEGER NOT NULL DEFAULT 0,
            held INTEGER NOT NULL DEFAULT 0,
            due INTEGER NOT NULL DEFAULT 0
          ) STRICT;
          CREATE INDEX conversations_due ON conversations(due) WHERE waiting > 0 AND held = 0;

          CREATE TABLE requests (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            request TEXT NOT NULL UNIQUE,
            dropped_as TEXT NOT NULL,
            inode INTEGER NOT NULL,
            born INTEGER NOT NULL,
            conversation_id INTEGER REFERENCES conversations(id),
            inbox TEXT NOT NULL,
            idempotency_key TEXT,
            digest TEXT,
            state TEXT NOT NULL,
            cause TEXT,
            error TEXT,
            bytes INTEGER NOT NULL,
            duplicate_of TEXT,
            accepted_at INTEGER NOT NULL,
            finished_at INTEGER,
            filed INTEGER NOT NULL DEFAULT 0
          ) STRICT;
          CREATE INDEX requests_identity ON requests(inode, born);
          CREATE INDEX requests_key ON requests(inbox, idempotency_key) WHERE idempotency_key IS NOT NULL;
          CREATE INDEX requests_unfiled ON requests(id) WHERE filed = 0 AND state <> 'queued';

          CREATE TABLE messages (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            message TEXT NOT NULL UNIQUE,
            request_id INTEGER NOT NULL REFERENCES requests(id) ON DELETE CASCADE,
            conversation_id INTEGER NOT NULL REFERENCES conversations(id),
            position INTEGER NOT NULL,
            kind TEXT NOT NULL,
            file TEXT NOT NULL,
            bytes INTEGER NOT NULL,
            digest TEXT NOT NULL,
            state TEXT NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0,
            next_attempt INTEGER,
            cause TEXT,
            error TEXT,
            sent_at INTEGER,
            remote TEXT
          ) STRICT;
          CREATE INDEX messages_waiting ON messages(conversation_id, id) WHERE state NOT IN ('sent','failed','cancelled');
          CREATE INDEX messages_in_hand ON messages(id) WHERE state IN ('preparing','uploading','uploaded');
          CREATE INDEX messages_request ON messages(request_id, position);

          CREATE TABLE attempts (
            id INTEGER PRIMARY KEY,
            message TEXT NOT NULL,
            number INTEGER NOT NULL,
            step TEXT NOT NULL,
            started_at INTEGER NOT NULL,
            ended_at INTEGER,
            cause TEXT,
            error TEXT
          ) STRICT;
          CREATE INDEX attempts_message ON attempts(message, number);

          CREATE TABLE photos (
            message TEXT PRIMARY KEY,
            inbox TEXT NOT NULL,
            conversation_id INTEGER NOT NULL REFERENCES conversations(id),
            file TEXT NOT NULL,
            format TEXT NOT NULL,
            original_bytes INTEGER NOT NULL,
            original_width INTEGER NOT NULL,
            original_height INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            width INTEGER NOT NULL,
            height INTEGER NOT NULL,
            digest TEXT NOT NULL,
            path TEXT NOT NULL,
            thumbnail_bytes INTEGER NOT NULL,
            url TEXT,
            url_expires_at INTEGER,
            attachment TEXT,
            created_at INTEGER NOT NULL,
            uploaded_at INTEGER,
            downloaded_at INTEGER,
            viewed_at INTEGER
          ) STRICT;

          CREATE TABLE uploads (
            id INTEGER PRIMARY KEY,
            message TEXT NOT NULL,
            store TEXT NOT NULL,
            object TEXT NOT NULL,
            state TEXT NOT NULL,
            started_at INTEGER NOT NULL
          ) STRICT;
          CREATE INDEX uploads_message ON uploads(message);
          CREATE INDEX uploads_object ON uploads(object);
          CREATE INDEX uploads_state ON uploads(state, id);

          CREATE TABLE preferences (
            conversation_id INTEGER NOT NULL REFERENCES conversations(id),
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (conversation_id, name)
          ) STRICT, WITHOUT ROWID;
          """)
    }
    migrator.registerMigration("v2 conversations wait for destinations") { database in
      try database.execute(
        sql: """
          ALTER TABLE conversations ADD COLUMN waits_for TEXT;
          CREATE INDEX conversations_parked ON conversations(waits_for, due) WHERE waits_for IS NOT NULL;
          """)
    }
    migrator.registerMigration("v3 drafts") { database in
      try database.execute(
        sql: """
          ALTER TABLE messages ADD COLUMN draft INTEGER NOT NULL DEFAULT 0;
          DROP INDEX messages_waiting;
          CREATE INDEX messages_waiting ON messages(conversation_id, id)
            WHERE draft = 0 AND state NOT IN ('sent','failed','cancelled');
          CREATE INDEX messages_drafts ON messages(id) WHERE draft = 1;
          DROP INDEX requests_unfiled;
          CREATE INDEX requests_unfiled ON requests(id)
            WHERE filed = 0 AND state NOT IN ('queued','draft','abandoned');
          CREATE INDEX requests_drafts ON requests(conversation_id, inbox, id) WHERE state = 'draft';
          CREATE INDEX requests_drafts_named ON requests(dropped_as) WHERE state = 'draft';
          CREATE INDEX requests_abandoned ON requests(id) WHERE state = 'abandoned';
          """)
    }
    registerCache(in: &migrator)
    migrator.registerMigration("v5 counts") { try $0.execute(sql: CountsSchema.migration) }
    registerReceiving(in: &migrator)
    migrator.registerMigration("v7 rebuilt ledgers") { database in
      try database.execute(sql: "ALTER TABLE requests ADD COLUMN restored INTEGER NOT NULL DEFAULT 0")
    }
    migrator.registerMigration("v8 pages without remains") { database in
      // Whatever was ever sent is counted there.
      try database.execute(
        sql: """
          INSERT INTO janitor SELECT '\(remains)', '1' WHERE EXISTS (SELECT 1 FROM sqlite_sequence)
            OR EXISTS (SELECT 1 FROM conversations) OR EXISTS (SELECT 1 FROM photos)
          """)
    }
    registerProfiles(in: &migrator)
    registerReceivingCounts(in: &migrator)
    registerForgetting(in: &migrator)
    registerSenders(in: &migrator)
    migrator.registerMigration("v13 states without lists") { database in
      // Nor is a list of messages made where none of them has a photo, or drafts counted where none was or is.
      try database.execute(
        sql: """
          DROP INDEX messages_waiting;
          CREATE INDEX messages_waiting ON messages(conversation_id, id)
            WHERE draft = 0 AND state <> 'sent' AND state <> 'failed' AND state <> 'cancelled';
          DROP INDEX messages_in_hand;
          CREATE INDEX messages_in_hand ON messages(id)
            WHERE (state = 'preparing' OR state = 'uploading' OR state = 'uploaded');
          DROP INDEX requests_unfiled;
          CREATE INDEX requests_unfiled ON requests(id)
            WHERE filed = 0 AND state <> 'queued' AND state <> 'draft' AND state <> 'abandoned';
          DROP TRIGGER requests_unpin;
          CREATE TRIGGER requests_unpin AFTER UPDATE OF state ON requests
          WHEN NEW.state NOT IN ('queued','draft') AND OLD.state IN ('queued','draft')
            AND EXISTS (SELECT 1 FROM messages WHERE request_id = NEW.id AND kind <> 'text') BEGIN
            UPDATE photos SET pinned = 0 WHERE message IN (SELECT message FROM messages WHERE request_id = NEW.id);
          END;
          DROP TRIGGER count_request_made;
          CREATE TRIGGER count_request_made AFTER INSERT ON requests BEGIN
            UPDATE counts SET value = value + 1 WHERE name = 'requests.' || NEW.state;
          END;
          CREATE TRIGGER count_draft_made AFTER INSERT ON requests WHEN NEW.state = 'draft' BEGIN
            UPDATE counts SET value = value + 1 WHERE name = 'drafts';
          END;
          DROP TRIGGER count_request_moved;
          CREATE TRIGGER count_request_moved AFTER UPDATE OF state ON requests WHEN OLD.state <> NEW.state BEGIN
            UPDATE counts SET value = value + 1 WHERE name = 'requests.' || NEW.state;
          END;
          CREATE TRIGGER count_draft_moved AFTER UPDATE OF state ON requests
          WHEN (NEW.state = 'draft') <> (OLD.state = 'draft') BEGIN
            UPDATE counts SET value = value + (NEW.state = 'draft') - (OLD.state = 'draft') WHERE name = 'drafts';
          END;
          """)
    }
    migrator.registerMigration("v14 attempts that succeed stand with their messages") { database in
      // Of a message that a process had in hand which died, the last attempt is still to end. What waits is looked for in the
      // words of its index; all that was ever sent is not looked through for it.
      try database.execute(
        sql: """
          ALTER TABLE messages ADD COLUMN begun_at INTEGER;
          CREATE TEMP TABLE running AS SELECT max(a.id) AS id FROM messages m JOIN attempts a ON a.message = m.message
            WHERE m.draft = 0 AND m.state <> 'sent' AND m.state <> 'failed' AND m.state <> 'cancelled'
              AND m.state = 'publishing' AND a.ended_at IS NULL GROUP BY m.id;
          UPDATE messages SET begun_at = a.started_at FROM running r JOIN attempts a ON a.id = r.id
            WHERE a.message = messages.message;
          DELETE FROM attempts WHERE id IN (SELECT id FROM running);
          DROP TABLE running;
          UPDATE attempts SET ended_at = started_at, error = 'interrupted; its outcome is not known'
            WHERE ended_at IS NULL;
          """)
    }
    migrator.registerMigration("v15 counts as sums") { try $0.execute(sql: CountsSchema.asSums) }
    migrator.registerMigration("v16 requests that stay where they are, owners of drafts") { database in
      // `filed` is 2 for a request that is over and that we may not move.
      try database.execute(
        sql: """
          CREATE INDEX requests_immovable ON requests(id) WHERE filed = 2;
          ALTER TABLE requests ADD COLUMN owner INTEGER;
          """)
    }
    registerDraftsByOwner(in: &migrator)
    return migrator
  }
}
