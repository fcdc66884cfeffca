import GRDB

/// What the ledger keeps of the cache's size, and the order in which photos are evicted from it.
///
/// Triggers count, so that every change of a photo's row changes the totals in the same transaction; and every index
/// begins with what a question fixes, so that evicting some photos costs nothing for those that stay.
extension LedgerSchema {
  static func registerCache(in migrator: inout DatabaseMigrator) {
    migrator.registerMigration("v4 the size of the cache, purges") { database in
      try database.execute(sql: columns)
      try database.execute(sql: known)
      try database.execute(sql: indexes)
      try database.execute(sql: counting)
      try database.execute(sql: pinning)
    }
  }

  private static let columns = """
    ALTER TABLE conversations ADD COLUMN purged INTEGER NOT NULL DEFAULT 0;

    ALTER TABLE photos ADD COLUMN cached_bytes INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE photos ADD COLUMN cached_thumbnail_bytes INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE photos ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE photos ADD COLUMN fetchable INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE photos ADD COLUMN recency INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE photos ADD COLUMN evicting INTEGER NOT NULL DEFAULT 0;

    CREATE TABLE cache_use (
      inbox TEXT PRIMARY KEY,
      photos INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      warned INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE cache_total (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      photos INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      warned INTEGER NOT NULL DEFAULT 0,
      recency INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE janitor (
      name TEXT PRIMARY KEY,
      value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    """

  /// What is known of the photos that are there: they were sent in the order of their rows.
  private static let known = """
    UPDATE photos SET cached_bytes = bytes, cached_thumbnail_bytes = thumbnail_bytes, recency = rowid,
      fetchable = url IS NOT NULL, url_expires_at = coalesce(url_expires_at, uploaded_at + 2592000000),
      viewed_at = coalesce(viewed_at, uploaded_at),
      pinned = EXISTS (SELECT 1 FROM messages m JOIN requests r ON r.id = m.request_id
        WHERE m.message = photos.message AND r.state IN ('queued','draft'));
    INSERT INTO cache_use (inbox, photos, bytes)
      SELECT inbox, count(*), sum(cached_bytes + cached_thumbnail_bytes) FROM photos GROUP BY inbox;
    INSERT INTO cache_total (id, photos, bytes, recency)
      SELECT 1, count(*), coalesce(sum(cached_bytes + cached_thumbnail_bytes), 0), coalesce(max(recency), 0) FROM photos;
    """

  private static let indexes = """
    CREATE INDEX conversations_purged ON conversations(id) WHERE purged = 1;
    CREATE INDEX requests_conversation ON requests(conversation_id, id);
    CREATE INDEX requests_over ON requests(state, finished_at) WHERE filed = 1;
    CREATE INDEX messages_conversation ON messages(conversation_id);

    CREATE INDEX photos_conversation ON photos(conversation_id);
    CREATE INDEX photos_by_inbox ON photos(inbox, fetchable, recency) WHERE \(evictable);
    CREATE INDEX photos_by_recency ON photos(fetchable, recency) WHERE \(evictable);
    CREATE INDEX thumbnails_by_inbox ON photos(inbox, recency) WHERE \(evictableThumbnails);
    CREATE INDEX thumbnails_by_recency ON photos(recency) WHERE \(evictableThumbnails);
    CREATE INDEX photos_evicting ON photos(evicting) WHERE evicting > 0;
    CREATE INDEX photos_expiry ON photos(url_expires_at) WHERE fetchable = 1;
    CREATE INDEX photos_gone ON photos(created_at)
      WHERE cached_bytes = 0 AND cached_thumbnail_bytes = 0 AND fetchable = 0 AND pinned = 0;
    """

  private static let counting = """
    CREATE TRIGGER photos_come AFTER INSERT ON photos BEGIN
      INSERT INTO cache_use (inbox, photos, bytes)
        VALUES (NEW.inbox, NEW.cached_bytes > 0, NEW.cached_bytes + NEW.cached_thumbnail_bytes)
        ON CONFLICT (inbox) DO UPDATE SET photos = photos + excluded.photos, bytes = bytes + excluded.bytes;
      UPDATE cache_total SET photos = photos + (NEW.cached_bytes > 0),
        bytes = bytes + NEW.cached_bytes + NEW.cached_thumbnail_bytes;
    END;
    CREATE TRIGGER photos_change AFTER UPDATE OF inbox, cached_bytes, cached_thumbnail_bytes ON photos BEGIN
      UPDATE cache_use SET photos = photos - (OLD.cached_bytes > 0),
        bytes = bytes - OLD.cached_bytes - OLD.cached_thumbnail_bytes WHERE inbox = OLD.inbox;
      INSERT INTO cache_use (inbox, photos, bytes)
        VALUES (NEW.inbox, NEW.cached_bytes > 0, NEW.cached_bytes + NEW.cached_thumbnail_bytes)
        ON CONFLICT (inbox) DO UPDATE SET photos = photos + excluded.photos, bytes = bytes + excluded.bytes;
      UPDATE cache_total SET photos = photos - (OLD.cached_bytes > 0) + (NEW.cached_bytes > 0),
        bytes = bytes - OLD.cached_bytes - OLD.cached_thumbnail_bytes
          + NEW.cached_bytes + NEW.cached_thumbnail_bytes;
    END;
    CREATE TRIGGER photos_go AFTER DELETE ON photos BEGIN
      UPDATE cache_use SET photos = photos - (OLD.cached_bytes > 0),
        bytes = bytes - OLD.cached_bytes - OLD.cached_thumbnail_bytes WHERE inbox = OLD.inbox;
      UPDATE cache_total SET photos = photos - (OLD.cached_bytes > 0),
        bytes = bytes - OLD.cached_bytes - OLD.cached_thumbnail_bytes;
    END;
    """

  /// A photo is pinned while its request is not over.
  private static let pinning = """
    CREATE TRIGGER messages_pin AFTER INSERT ON messages WHEN NEW.kind = 'photo' BEGIN
      UPDATE photos SET pinned = 1 WHERE message = NEW.message AND pinned = 0;
    END;
    CREATE TRIGGER requests_pin AFTER UPDATE OF state ON requests
    WHEN NEW.state IN ('queued','draft') AND OLD.state NOT IN ('queued','draft') BEGIN
      UPDATE photos SET pinned = 1 WHERE message IN (SELECT message FROM messages WHERE request_id = NEW.id);
    END;
    CREATE TRIGGER requests_unpin AFTER UPDATE OF state ON requests
    WHEN NEW.state NOT IN ('queued','draft') AND OLD.state IN ('queued','draft') BEGIN
      UPDATE photos SET pinned = 0 WHERE message IN (SELECT message FROM messages WHERE request_id = NEW.id);
    END;
    """
}
