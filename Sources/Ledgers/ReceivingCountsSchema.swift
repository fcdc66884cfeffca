import FoundationEssentials
import GRDB
import Messages

/// What the ledger counts of photos that others sent, and by what their downloads are kept apart.
extension LedgerSchema {
  /// The attachment of a received photo whose keys were lost with the ledger that had them.
  static let lostAttachment = "{}"

  static func registerReceivingCounts(in migrator: inout DatabaseMigrator) {
    migrator.registerMigration("v10 hosts and counts of received photos, preferences of inboxes") { database in
      try database.execute(
        sql: """
          ALTER TABLE received ADD COLUMN host TEXT NOT NULL DEFAULT '';
          CREATE INDEX received_wanted_order ON received(id, host, next_attempt, conversation_id) WHERE \(wanted);

          CREATE TABLE inbox_preferences (
            inbox TEXT NOT NULL,
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (inbox, name)
          ) STRICT, WITHOUT ROWID;

          INSERT INTO counts SELECT 'received.' || column1,
            (SELECT count(*) FROM received WHERE own = 0 AND state = column1)
            FROM (VALUES ('offered'), ('wanted'), ('downloading'), ('downloaded'), ('failed'));
          INSERT INTO counts VALUES
            ('received', (SELECT count(*) FROM received WHERE own = 0)),
            ('downloads', (SELECT count(*) FROM received WHERE state = 'downloaded'));
          CREATE TRIGGER count_received_made AFTER INSERT ON received WHEN NEW.own = 0 BEGIN
            UPDATE counts SET value = value + 1 WHERE name IN ('received', 'received.' || NEW.state);
          END;
          CREATE TRIGGER count_received_gone AFTER DELETE ON received WHEN OLD.own = 0 BEGIN
            UPDATE counts SET value = value - 1 WHERE name = 'received.' || OLD.state;
          END;
          CREATE TRIGGER count_received_moved AFTER UPDATE OF state ON received WHEN OLD.state <> NEW.state BEGIN
            UPDATE counts SET value = value - 1 WHERE name = 'received.' || OLD.state AND NEW.own = 0;
            UPDATE counts SET value = value + 1 WHERE name = 'received.' || NEW.state AND NEW.own = 0;
            UPDATE counts SET value = value + 1 WHERE name = 'downloads' AND NEW.state = 'downloaded';
          END;
          CREATE TRIGGER count_download_setback AFTER UPDATE OF cause ON received WHEN NEW.cause IS NOT NULL BEGIN
            INSERT INTO counts VALUES ('download_setbacks.' || NEW.cause, 1)
              ON CONFLICT (name) DO UPDATE SET value = value + 1;
          END;

          DROP TRIGGER count_photo_prepared;
          CREATE TRIGGER count_photo_prepared AFTER INSERT ON photos WHEN NEW.downloaded_at IS NULL BEGIN
            UPDATE counts SET value = value + 1 WHERE name = 'prepared';
            UPDATE counts SET value = value + NEW.original_bytes WHERE name = 'prepared.original_bytes';
            UPDATE counts SET value = value + NEW.bytes WHERE name = 'prepared.bytes';
          END;
          """)
      for (name, sum) in [
        ("prepared", "count(*)"), ("prepared.original_bytes", "sum(original_bytes)"), ("prepared.bytes", "sum(bytes)"),
      ] {
        // They were counted with those that are sent.
        try database.execute(
          sql: """
            UPDATE counts SET value = value - (SELECT coalesce(\(sum), 0) FROM photos
              WHERE message IN (SELECT message FROM received WHERE own = 0)) WHERE name = ?
            """,
          arguments: [name])
      }
      for row in try Row.fetchAll(database, sql: "SELECT id, attachment FROM received") {
        try database.execute(
          sql: "UPDATE received SET host = ? WHERE id = ?",
          arguments: [try RemotePhoto(json: row["attachment"]).host, row["id"] as Int64])
      }
    }
  }
}
