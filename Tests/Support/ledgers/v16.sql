-- The ledger of a program of sixteen migrations, as SQLite shows its schema.
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
CREATE TABLE conversations (
  id INTEGER PRIMARY KEY,
  conversation TEXT NOT NULL UNIQUE,
  waiting INTEGER NOT NULL DEFAULT 0,
  held INTEGER NOT NULL DEFAULT 0,
  due INTEGER NOT NULL DEFAULT 0
, waits_for TEXT, purged INTEGER NOT NULL DEFAULT 0, known INTEGER NOT NULL DEFAULT 0) STRICT;
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
, restored INTEGER NOT NULL DEFAULT 0, owner INTEGER) STRICT;
CREATE INDEX requests_identity ON requests(inode, born);
CREATE INDEX requests_key ON requests(inbox, idempotency_key) WHERE idempotency_key IS NOT NULL;
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
, draft INTEGER NOT NULL DEFAULT 0, begun_at INTEGER) STRICT;
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
, cached_bytes INTEGER NOT NULL DEFAULT 0, cached_thumbnail_bytes INTEGER NOT NULL DEFAULT 0, pinned INTEGER NOT NULL DEFAULT 0, fetchable INTEGER NOT NULL DEFAULT 0, recency INTEGER NOT NULL DEFAULT 0, evicting INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE uploads (
  id INTEGER PRIMARY KEY,
  message TEXT NOT NULL,
  store TEXT NOT NULL,
  object TEXT NOT NULL,
  state TEXT NOT NULL,
  started_at INTEGER NOT NULL
, profile_of TEXT) STRICT;
CREATE INDEX uploads_message ON uploads(message);
CREATE INDEX uploads_object ON uploads(object);
CREATE INDEX uploads_state ON uploads(state, id);
CREATE TABLE preferences (
  conversation_id INTEGER NOT NULL REFERENCES conversations(id),
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (conversation_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX conversations_parked ON conversations(waits_for, due) WHERE waits_for IS NOT NULL;
CREATE INDEX messages_drafts ON messages(id) WHERE draft = 1;
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
CREATE TABLE counts (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX requests_queued ON requests(accepted_at) WHERE state = 'queued';
CREATE INDEX conversations_held ON conversations(id) WHERE held <> 0 AND waiting > 0;
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
, host TEXT NOT NULL DEFAULT '', sender TEXT) STRICT;
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
CREATE INDEX received_wanted_order ON received(id, host, next_attempt, conversation_id) WHERE state = 'wanted';
CREATE TABLE inbox_preferences (
  inbox TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (inbox, name)
) STRICT, WITHOUT ROWID;
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
CREATE TRIGGER count_photo_prepared AFTER INSERT ON photos WHEN NEW.downloaded_at IS NULL BEGIN
  UPDATE counts SET value = value + 1 WHERE name = 'prepared';
  UPDATE counts SET value = value + NEW.original_bytes WHERE name = 'prepared.original_bytes';
  UPDATE counts SET value = value + NEW.bytes WHERE name = 'prepared.bytes';
END;
CREATE INDEX received_forgettable ON received(coalesce(wanted_at, received_at)) WHERE state IN ('offered','failed') AND own = 0;
CREATE INDEX messages_waiting ON messages(conversation_id, id)
  WHERE draft = 0 AND state <> 'sent' AND state <> 'failed' AND state <> 'cancelled';
CREATE INDEX messages_in_hand ON messages(id)
  WHERE (state = 'preparing' OR state = 'uploading' OR state = 'uploaded');
CREATE INDEX requests_unfiled ON requests(id)
  WHERE filed = 0 AND state <> 'queued' AND state <> 'draft' AND state <> 'abandoned';
CREATE TRIGGER count_message_made AFTER INSERT ON messages WHEN NEW.draft = 0 BEGIN
  SELECT tally(CASE WHEN NEW.state <> 'sent' AND NEW.state <> 'failed' AND NEW.state <> 'cancelled'
  THEN 'messages.' || NEW.state END, 1);
END;
CREATE TRIGGER count_message_gone AFTER DELETE ON messages WHEN OLD.draft = 0 BEGIN
  SELECT tally(CASE WHEN OLD.state <> 'sent' AND OLD.state <> 'failed' AND OLD.state <> 'cancelled'
  THEN 'messages.' || OLD.state END, -1);
END;
CREATE TRIGGER count_message_moved AFTER UPDATE OF state ON messages WHEN NEW.draft = 0 AND OLD.state <> NEW.state BEGIN
  SELECT tally(CASE WHEN OLD.state <> 'sent' AND OLD.state <> 'failed' AND OLD.state <> 'cancelled'
  THEN 'messages.' || OLD.state END, -1), tally(CASE WHEN NEW.state <> 'sent' AND NEW.state <> 'failed' AND NEW.state <> 'cancelled'
  THEN 'messages.' || NEW.state END, 1);
END;
CREATE TRIGGER count_message_sent AFTER UPDATE OF sent_at ON messages WHEN NEW.sent_at IS NOT NULL BEGIN
  SELECT tally('sent.' || NEW.kind, OLD.sent_at IS NULL), latest('last_sent', NEW.sent_at);
END;
CREATE TRIGGER count_setback AFTER UPDATE OF cause ON messages WHEN NEW.cause IS NOT NULL BEGIN
  SELECT tally('setbacks.' || NEW.cause, 1);
END;
CREATE TRIGGER count_request_made AFTER INSERT ON requests BEGIN
  SELECT tally(CASE WHEN NEW.state <> 'draft' AND NEW.state <> 'abandoned' THEN 'requests.' || NEW.state END, 1), tally('drafts', NEW.state = 'draft');
END;
CREATE TRIGGER count_request_moved AFTER UPDATE OF state ON requests WHEN OLD.state <> NEW.state BEGIN
  SELECT tally(CASE WHEN NEW.state <> 'draft' AND NEW.state <> 'abandoned' THEN 'requests.' || NEW.state END, 1), tally('drafts', (NEW.state = 'draft') - (OLD.state = 'draft'));
END;
CREATE TRIGGER count_request_gone AFTER DELETE ON requests WHEN OLD.state = 'draft' BEGIN
  SELECT tally('drafts', -1);
END;
CREATE TRIGGER requests_pin AFTER UPDATE OF state ON requests
WHEN (NEW.state = 'queued' OR NEW.state = 'draft') <> (OLD.state = 'queued' OR OLD.state = 'draft')
  AND EXISTS (SELECT 1 FROM messages WHERE request_id = NEW.id AND kind <> 'text') BEGIN
  UPDATE photos SET pinned = NEW.state = 'queued' OR NEW.state = 'draft'
    WHERE message IN (SELECT message FROM messages WHERE request_id = NEW.id);
END;
CREATE INDEX requests_immovable ON requests(id) WHERE filed = 2;
INSERT INTO grdb_migrations VALUES('v1 requests, messages, photos');
INSERT INTO grdb_migrations VALUES('v2 conversations wait for destinations');
INSERT INTO grdb_migrations VALUES('v3 drafts');
INSERT INTO grdb_migrations VALUES('v4 the size of the cache, purges');
INSERT INTO grdb_migrations VALUES('v5 counts');
INSERT INTO grdb_migrations VALUES('v6 received photos');
INSERT INTO grdb_migrations VALUES('v7 rebuilt ledgers');
INSERT INTO grdb_migrations VALUES('v8 pages without remains');
INSERT INTO grdb_migrations VALUES('v9 profiles');
INSERT INTO grdb_migrations VALUES('v10 hosts and counts of received photos, preferences of inboxes');
INSERT INTO grdb_migrations VALUES('v11 announcements are forgotten');
INSERT INTO grdb_migrations VALUES('v12 senders of received photos');
INSERT INTO grdb_migrations VALUES('v13 states without lists');
INSERT INTO grdb_migrations VALUES('v14 attempts that succeed stand with their messages');
INSERT INTO grdb_migrations VALUES('v15 counts as sums');
INSERT INTO grdb_migrations VALUES('v16 requests that stay where they are, owners of drafts');
INSERT INTO cache_total VALUES(1,0,0,0,0);
INSERT INTO counts VALUES('conversations.held',0);
INSERT INTO counts VALUES('conversations.parked',0);
INSERT INTO counts VALUES('conversations.waiting',0);
INSERT INTO counts VALUES('downloads',0);
INSERT INTO counts VALUES('drafts',0);
INSERT INTO counts VALUES('last_sent',0);
INSERT INTO counts VALUES('messages.pending',0);
INSERT INTO counts VALUES('messages.preparing',0);
INSERT INTO counts VALUES('messages.publishing',0);
INSERT INTO counts VALUES('messages.uploaded',0);
INSERT INTO counts VALUES('messages.uploading',0);
INSERT INTO counts VALUES('prepared',0);
INSERT INTO counts VALUES('prepared.bytes',0);
INSERT INTO counts VALUES('prepared.original_bytes',0);
INSERT INTO counts VALUES('received',0);
INSERT INTO counts VALUES('received.downloaded',0);
INSERT INTO counts VALUES('received.downloading',0);
INSERT INTO counts VALUES('received.failed',0);
INSERT INTO counts VALUES('received.forgotten',0);
INSERT INTO counts VALUES('received.offered',0);
INSERT INTO counts VALUES('received.wanted',0);
INSERT INTO counts VALUES('requests.cancelled',0);
INSERT INTO counts VALUES('requests.duplicate',0);
INSERT INTO counts VALUES('requests.failed',0);
INSERT INTO counts VALUES('requests.queued',0);
INSERT INTO counts VALUES('requests.sent',0);
INSERT INTO counts VALUES('sent.photo',0);
INSERT INTO counts VALUES('sent.profile',0);
INSERT INTO counts VALUES('sent.profile-removal',0);
INSERT INTO counts VALUES('sent.text',0);
