-- What a program of nine migrations made of that ledger.
DROP INDEX requests_unfiled;
DROP INDEX messages_waiting;
ALTER TABLE conversations ADD COLUMN waits_for TEXT;
ALTER TABLE conversations ADD COLUMN purged INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN known INTEGER NOT NULL DEFAULT 0;
ALTER TABLE requests ADD COLUMN restored INTEGER NOT NULL DEFAULT 0;
ALTER TABLE messages ADD COLUMN draft INTEGER NOT NULL DEFAULT 0;
ALTER TABLE photos ADD COLUMN cached_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE photos ADD COLUMN cached_thumbnail_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE photos ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE photos ADD COLUMN fetchable INTEGER NOT NULL DEFAULT 0;
ALTER TABLE photos ADD COLUMN recency INTEGER NOT NULL DEFAULT 0;
ALTER TABLE photos ADD COLUMN evicting INTEGER NOT NULL DEFAULT 0;
ALTER TABLE uploads ADD COLUMN profile_of TEXT;
CREATE INDEX conversations_parked ON conversations(waits_for, due) WHERE waits_for IS NOT NULL;
CREATE INDEX messages_waiting ON messages(conversation_id, id)
  WHERE draft = 0 AND state NOT IN ('sent','failed','cancelled');
CREATE INDEX messages_drafts ON messages(id) WHERE draft = 1;
CREATE INDEX requests_unfiled ON requests(id)
  WHERE filed = 0 AND state NOT IN ('queued','draft','abandoned');
CREATE INDEX requests_drafts ON requests(conversation_id, inbox, id) WHERE state = 'draft';
CREATE INDEX requests_drafts_named ON requests(dropped_as) WHERE state = 'draft';
CREATE INDEX requests_abandoned ON requests(id) WHERE state = 'abandoned';
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
CREATE INDEX conversations_purged ON conversations(id) WHERE purged = 1;
CREATE INDEX requests_conversation ON requests(conversation_id, id);
CREATE INDEX requests_over ON requests(state, finished_at) WHERE filed = 1;
CREATE INDEX messages_conversation ON messages(conversation_id);
CREATE INDEX photos_conversation ON photos(conversation_id);
CREATE INDEX photos_by_inbox ON photos(inbox, fetchable, recency) WHERE cached_bytes > 0 AND pinned = 0 AND evicting = 0;
CREATE INDEX photos_by_recency ON photos(fetchable, recency) WHERE cached_bytes > 0 AND pinned = 0 AND evicting = 0;
CREATE INDEX thumbnails_by_inbox ON photos(inbox, recency) WHERE cached_bytes = 0 AND cached_thumbnail_bytes > 0 AND pinned = 0 AND evicting = 0;
CREATE INDEX thumbnails_by_recency ON photos(recency) WHERE cached_bytes = 0 AND cached_thumbnail_bytes > 0 AND pinned = 0 AND evicting = 0;
CREATE INDEX photos_evicting ON photos(evicting) WHERE evicting > 0;
CREATE INDEX photos_expiry ON photos(url_expires_at) WHERE fetchable = 1;
CREATE INDEX photos_gone ON photos(created_at)
  WHERE cached_bytes = 0 AND cached_thumbnail_bytes = 0 AND fetchable = 0 AND pinned = 0;
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
CREATE TABLE counts (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX requests_queued ON requests(accepted_at) WHERE state = 'queued';
CREATE INDEX conversations_held ON conversations(id) WHERE held <> 0 AND waiting > 0;
CREATE TRIGGER count_message_made AFTER INSERT ON messages WHEN NEW.draft = 0 BEGIN
  UPDATE counts SET value = value + 1 WHERE name = 'messages.' || NEW.state;
END;
CREATE TRIGGER count_message_gone AFTER DELETE ON messages WHEN OLD.draft = 0 BEGIN
  UPDATE counts SET value = value - 1 WHERE name = 'messages.' || OLD.state;
END;
CREATE TRIGGER count_message_moved AFTER UPDATE OF state ON messages WHEN NEW.draft = 0 AND OLD.state <> NEW.state BEGIN
  UPDATE counts SET value = value - 1 WHERE name = 'messages.' || OLD.state;
  UPDATE counts SET value = value + 1 WHERE name = 'messages.' || NEW.state;
END;
CREATE TRIGGER count_message_sent AFTER UPDATE OF sent_at ON messages WHEN NEW.sent_at IS NOT NULL BEGIN
  UPDATE counts SET value = value + 1 WHERE name = 'sent.' || NEW.kind AND OLD.sent_at IS NULL;
  UPDATE counts SET value = max(value, NEW.sent_at) WHERE name = 'last_sent';
END;
CREATE TRIGGER count_setback AFTER UPDATE OF cause ON messages WHEN NEW.cause IS NOT NULL BEGIN
  INSERT INTO counts VALUES ('setbacks.' || NEW.cause, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1;
END;
CREATE TRIGGER count_request_made AFTER INSERT ON requests BEGIN
  UPDATE counts SET value = value + 1 WHERE name = 'requests.' || NEW.state;
  UPDATE counts SET value = value + 1 WHERE name = 'drafts' AND NEW.state = 'draft';
END;
CREATE TRIGGER count_request_moved AFTER UPDATE OF state ON requests WHEN OLD.state <> NEW.state BEGIN
  UPDATE counts SET value = value + 1 WHERE name = 'requests.' || NEW.state;
  UPDATE counts SET value = value + (NEW.state = 'draft') - (OLD.state = 'draft') WHERE name = 'drafts';
END;
CREATE TRIGGER count_request_gone AFTER DELETE ON requests WHEN OLD.state = 'draft' BEGIN
  UPDATE counts SET value = value - 1 WHERE name = 'drafts';
END;
CREATE TRIGGER count_conversation_changed AFTER UPDATE OF waiting, held, waits_for ON conversations
WHEN (OLD.waiting > 0) <> (NEW.waiting > 0) OR OLD.held <> NEW.held
  OR (OLD.waits_for IS NULL) <> (NEW.waits_for IS NULL) BEGIN
  UPDATE counts SET value = value + (NEW.waiting > 0) - (OLD.waiting > 0) WHERE name = 'conversations.waiting';
  UPDATE counts SET value = value + (NEW.waiting > 0 AND NEW.held <> 0) - (OLD.waiting > 0 AND OLD.held <> 0)
    WHERE name = 'conversations.held';
  UPDATE counts SET value = value + (NEW.waiting > 0 AND NEW.waits_for IS NOT NULL)
    - (OLD.waiting > 0 AND OLD.waits_for IS NOT NULL) WHERE name = 'conversations.parked';
END;
CREATE TRIGGER count_conversation_gone AFTER DELETE ON conversations WHEN OLD.waiting > 0 BEGIN
  UPDATE counts SET value = value - 1 WHERE name = 'conversations.waiting';
  UPDATE counts SET value = value - 1 WHERE name = 'conversations.held' AND OLD.held <> 0;
  UPDATE counts SET value = value - 1 WHERE name = 'conversations.parked' AND OLD.waits_for IS NOT NULL;
END;
CREATE TRIGGER count_photo_prepared AFTER INSERT ON photos BEGIN
  UPDATE counts SET value = value + 1 WHERE name = 'prepared';
  UPDATE counts SET value = value + NEW.original_bytes WHERE name = 'prepared.original_bytes';
  UPDATE counts SET value = value + NEW.bytes WHERE name = 'prepared.bytes';
END;
CREATE TRIGGER count_photo_prepared_again AFTER UPDATE OF original_bytes ON photos BEGIN
  UPDATE counts SET value = value + 1 WHERE name = 'prepared';
  UPDATE counts SET value = value + NEW.original_bytes WHERE name = 'prepared.original_bytes';
  UPDATE counts SET value = value + NEW.bytes WHERE name = 'prepared.bytes';
END;
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
CREATE INDEX received_wanted ON received(next_attempt, id) WHERE state = 'wanted';
CREATE INDEX received_downloading ON received(id) WHERE state = 'downloading';
CREATE TABLE profiles (
  inbox TEXT PRIMARY KEY,
  conversation_id INTEGER NOT NULL REFERENCES conversations(id),
  message TEXT,
  network TEXT NOT NULL,
  url TEXT,
  changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX uploads_profile ON uploads(profile_of) WHERE profile_of IS NOT NULL;
INSERT INTO grdb_migrations VALUES
  ('v2 conversations wait for destinations'),
  ('v3 drafts'),
  ('v4 the size of the cache, purges'),
  ('v5 counts'),
  ('v6 received photos'),
  ('v7 rebuilt ledgers'),
  ('v8 pages without remains'),
  ('v9 profiles');
INSERT INTO cache_total VALUES
  (1, 0, 0, 0, 0);
INSERT INTO counts VALUES
  ('conversations.held', 0),
  ('conversations.parked', 0),
  ('conversations.waiting', 0),
  ('drafts', 0),
  ('last_sent', 0),
  ('messages.pending', 0),
  ('messages.preparing', 0),
  ('messages.publishing', 0),
  ('messages.uploaded', 0),
  ('messages.uploading', 0),
  ('prepared', 0),
  ('prepared.bytes', 0),
  ('prepared.original_bytes', 0),
  ('requests.cancelled', 0),
  ('requests.duplicate', 0),
  ('requests.failed', 0),
  ('requests.queued', 0),
  ('requests.sent', 0),
  ('sent.photo', 0),
  ('sent.profile', 0),
  ('sent.profile-removal', 0),
  ('sent.text', 0);
