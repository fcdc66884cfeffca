-- The ledger of the first program, of one migration.
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
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
INSERT INTO grdb_migrations VALUES ('v1 requests, messages, photos');
