import FoundationEssentials
import GRDB
import Messages

/// Makes the tables of a new ledger, and upgrades an earlier one. One step serves both, in one transaction: the tables
/// are made as they are now, the rows are copied into them by the names of their columns, and the former tables go. The
/// log grows to one and a half times the ledger's size. SQLite sorts the keys of one index at a time in memory, which
/// takes a seventh of that size.
enum Upgrade {
  /// The name under which a ledger knows that it has the tables of `LedgerSchema`.
  private static let name = "v21 records of requests"
  /// The names that earlier programs left there, the first one first.
  private static let former = [
    "v1 requests, messages, photos", "v2 conversations wait for destinations", "v3 drafts",
    "v4 the size of the cache, purges", "v5 counts", "v6 received photos", "v7 rebuilt ledgers",
    "v8 pages without remains", "v9 profiles", "v10 hosts and counts of received photos, preferences of inboxes",
    "v11 announcements are forgotten", "v12 senders of received photos", "v13 states without lists",
    "v14 attempts that succeed stand with their messages", "v15 counts as sums",
    "v16 requests that stay where they are, owners of drafts", "v17 drafts by owner",
    "v18 the tables as they are", "v19 places of profiles, photos of others by state",
    "v20 where messages were offered",
  ]

  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration(name, merging: Set(former)) { database, applied in
      try moveTablesAside(in: database)
      try database.execute(sql: LedgerSchema.tables)
      try copyRows(in: database)
      try database.execute(sql: LedgerSchema.indexes)
      try fill(database, since: (former.lastIndex(where: applied.contains) ?? -1) + 1)
      try database.execute(sql: LedgerSchema.triggers)
    }
    return migrator
  }

  /// Whether a later version made the ledger. GRDB would say so of the merged names, too.
  static func isNewer(_ database: Database) throws -> Bool {
    try !migrator.appliedIdentifiers(database).isSubset(of: former + [name])
  }

  /// Whether a ledger of any version holds data.
  static func isUsed(_ database: Database) throws -> Bool {
    guard try database.tableExists("requests") else { return false }
    return try ["requests", "conversations", "photos"].contains { table in
      try Row.fetchOne(database, sql: "SELECT 1 FROM \(table)") != nil
    }
  }

  private static func moveTablesAside(in database: Database) throws {
    for trigger in try String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE type = 'trigger'") {
      try database.execute(sql: "DROP TRIGGER \(trigger)")
    }
    for table in LedgerSchema.tableNames where try database.tableExists(table) {
      try database.execute(sql: "ALTER TABLE \(table) RENAME TO former_\(table)")
    }
  }

  private static func copyRows(in database: Database) throws {
    for table in LedgerSchema.tableNames where try database.tableExists("former_\(table)") {
      let columns = try Set(database.columns(in: table).map(\.name))
        .intersection(database.columns(in: "former_\(table)").map(\.name)).sorted().joined(separator: ", ")
      // SQLite keeps all pages in memory that one statement changes, unless it is one that it need not take back by itself:
      // OR FAIL is, and so is a deletion of all rows, but not DROP TABLE.
      try database.execute(
        sql: """
          INSERT OR FAIL INTO \(table) (\(columns)) SELECT \(columns) FROM former_\(table);
          DELETE FROM former_\(table);
          """)
    }
    // Row numbers are never reused.
    try database.execute(
      sql: """
        DELETE FROM sqlite_sequence WHERE 'former_' || name IN (SELECT name FROM sqlite_sequence);
        UPDATE sqlite_sequence SET name = substr(name, length('former_') + 1) WHERE name LIKE 'former\\_%' ESCAPE '\\';
        """)
    for table in LedgerSchema.tableNames where try database.tableExists("former_\(table)") {
      try database.execute(sql: "DROP TABLE former_\(table)")
    }
  }

  /// Fills columns and tables that a program with `versions` migrations did not have; 0 is a new ledger.
  private static func fill(_ database: Database, since versions: Int) throws {
    if (1..<4).contains(versions) {
      try database.execute(
        sql: """
          UPDATE photos SET cached_bytes = bytes, cached_thumbnail_bytes = thumbnail_bytes, recency = rowid,
            fetchable = url IS NOT NULL, url_expires_at = coalesce(url_expires_at, uploaded_at + 2592000000),
            viewed_at = coalesce(viewed_at, uploaded_at),
            pinned = EXISTS (SELECT 1 FROM messages m JOIN requests r ON r.id = m.request_id
              WHERE m.message = photos.message AND (r.state = 'queued' OR r.state = 'draft'));
          INSERT INTO cache_use (inbox, photos, bytes)
            SELECT inbox, count(*), sum(cached_bytes + cached_thumbnail_bytes) FROM photos GROUP BY inbox;
          """)
    }
    try database.execute(
      sql: """
        INSERT OR IGNORE INTO cache_total (id, photos, bytes, recency)
          SELECT 1, count(*), coalesce(sum(cached_bytes + cached_thumbnail_bytes), 0), coalesce(max(recency), 0) FROM photos
        """)
    if (1..<5).contains(versions) { try countTotals(database) }
    if (1..<6).contains(versions) {
      try database.execute(
        sql: "UPDATE conversations SET known = 1 WHERE id IN (SELECT conversation_id FROM requests)")
    }
    if (6..<10).contains(versions) {
      // Photos of others were counted with those that are sent, if at all.
      try database.execute(
        sql: """
          INSERT INTO counts VALUES ('received', (SELECT count(*) FROM received WHERE own = 0)),
            ('downloads', (SELECT count(*) FROM received WHERE state = 'downloaded'));
          UPDATE counts SET value = value - (
            SELECT coalesce(sum(CASE counts.name WHEN 'prepared' THEN 1 WHEN 'prepared.bytes' THEN bytes ELSE original_bytes
              END), 0) FROM photos WHERE message IN (SELECT message FROM received WHERE own = 0))
            WHERE name IN ('prepared', 'prepared.bytes', 'prepared.original_bytes');
          """)
      for row in try Row.fetchAll(database, sql: "SELECT id, attachment FROM received") {
        // The attachment of one that a lost ledger knew is empty.
        guard let photo = try? RemotePhoto(json: row["attachment"]) else { continue }
        try database.execute(
          sql: "UPDATE received SET host = ? WHERE id = ?", arguments: [photo.host, row["id"] as Int64])
      }
    }
    if (1..<14).contains(versions) { try endAttempts(database) }
    if (1..<20).contains(versions) {
      try database.execute(
        sql: """
          UPDATE uploads SET sealed = 1
            WHERE EXISTS (SELECT 1 FROM photos p WHERE p.message = uploads.message AND instr(object, p.digest) = 0)
          """)
    }
    // Most present numbers are counted on demand, and pages hold no remains.
    try database.execute(
      sql: """
        DELETE FROM counts WHERE name = 'drafts' OR substr(name, 1, instr(name, '.')) IN
          ('messages.', 'conversations.', 'received.');
        INSERT INTO counts SELECT 'received.' || state, count(*) FROM received WHERE own = 0 GROUP BY state;
        DELETE FROM janitor WHERE name = 'remains';
        """)
  }

  private static func countTotals(_ database: Database) throws {
    try database.execute(
      sql: """
        INSERT INTO counts SELECT 'requests.' || state, count(*) FROM requests
          WHERE state IN ('sent', 'failed', 'cancelled', 'duplicate') GROUP BY state;
        INSERT INTO counts SELECT 'sent.' || kind, count(*) FROM messages WHERE state = 'sent' GROUP BY kind;
        INSERT INTO counts VALUES
          ('requests.queued',
            (SELECT count(*) FROM requests WHERE state NOT IN ('draft', 'abandoned', 'duplicate'))),
          ('prepared', (SELECT count(*) FROM photos)),
          ('prepared.original_bytes', (SELECT coalesce(sum(original_bytes), 0) FROM photos)),
          ('prepared.bytes', (SELECT coalesce(sum(bytes), 0) FROM photos)),
          ('last_sent', (SELECT coalesce(max(sent_at), 0) FROM messages));
        """)
  }

  /// Moves the running or successful attempt into the message, and ends those of processes that died.
  private static func endAttempts(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TEMP TABLE running AS SELECT max(a.id) AS id FROM messages m JOIN attempts a ON a.message = m.message
          WHERE m.draft = 0 AND m.state = 'publishing' AND a.ended_at IS NULL GROUP BY m.id;
        UPDATE messages SET begun_at = a.started_at FROM running r JOIN attempts a ON a.id = r.id
          WHERE a.message = messages.message;
        DELETE FROM attempts WHERE id IN (SELECT id FROM running);
        DROP TABLE running;
        UPDATE attempts SET ended_at = started_at, error = '\(Database.interrupted)' WHERE ended_at IS NULL;
        """)
  }
}
