/// The tables, indexes and triggers of the ledger. SQLite keeps the comments, and `.schema` shows them. To change a
/// table, rename `Upgrade.name` and add the former name to `Upgrade.former`. The next start then makes all tables again
/// and copies the rows.
enum LedgerSchema {
  // For every list of three or more, SQLite builds a table whenever a statement runs, even for an index condition; one
  // text needed eighteen. So the states are compared one by one.

  /// Unfinished messages, drafts included; partial indexes use the same words. Add `draft = 0` for the order of a
  /// conversation.
  static let waiting = waiting(in: "")
  /// The same for another table name, as `m.`.
  static func waiting(in table: String) -> String {
    "\(table)state <> 'sent' AND \(table)state <> 'failed' AND \(table)state <> 'cancelled'"
  }
  /// Those of them that wait for this host, and not for another owner of the cluster.
  static let waitingHere = waitingHere(in: "")
  static func waitingHere(in table: String) -> String { "\(waiting(in: table)) AND \(table)state <> 'relayed'" }
  /// For `FROM messages`: reads only waiting messages of a conversation. Otherwise SQLite may choose the index of all
  /// messages, and read a week of sent ones.
  static let byWaiting = "INDEXED BY messages_waiting"
  /// Finished requests whose directories are not at their final place; also the condition of an index.
  static let unfiled = "filed = 0 AND state <> 'queued' AND state <> 'draft' AND state <> 'abandoned'"
  /// Messages that a worker has in progress.
  static let inHand = "(state = 'preparing' OR state = 'uploading' OR state = 'uploaded')"
  /// These and the ones being published; also the condition of an index, which serves `inHand`, too.
  static let inProgress = "(\(inHand) OR state = 'publishing')"
  /// Photos with evictable originals, and photos of which only evictable thumbnails are left; conditions of indexes.
  static let evictable = "cached_bytes > 0 AND pinned = 0 AND evicting = 0"
  static let evictableThumbnails = "cached_bytes = 0 AND cached_thumbnail_bytes > 0 AND pinned = 0 AND evicting = 0"
  /// Received photos to fetch; also the condition of an index.
  static let wanted = "state = 'wanted'"
  /// Fewer than `?` photos are being fetched from the host of a received photo `r`.
  static let hasTurn = """
    (r.host = '' OR r.host NOT IN
      (SELECT host FROM received WHERE state = 'downloading' GROUP BY host HAVING count(*) >= ?))
    """
  /// Received photos that may be forgotten, and the time of the last event; also used by an index.
  static let forgettable = "state IN ('offered','failed') AND own = 0"
  static let forgettableSince = "coalesce(wanted_at, received_at)"
  /// The attachment of a received photo whose keys are lost or forgotten.
  static let lostAttachment = "{}"

  /// The janitor's note that the ledger was rebuilt and does not know the objects stored before.
  static let rebuilt = "rebuilt"
  /// The owner of a draft, -1 if unknown; also used by an index.
  static let owner = "coalesce(owner, -1)"

  /// Table names, each before those that refer to it.
  static let tableNames = [
    "conversations", "requests", "messages", "attempts", "photos", "uploads", "received", "profiles", "preferences",
    "inbox_preferences", "cache_use", "cache_total", "counts", "janitor",
  ]

  static let tables = """
    CREATE TABLE conversations (
      id INTEGER PRIMARY KEY,
      conversation TEXT NOT NULL UNIQUE, -- as clients wrote it
      waiting INTEGER NOT NULL DEFAULT 0, -- messages that are not final, drafts not among them
      held INTEGER NOT NULL DEFAULT 0, -- 1: publishing is stopped
      due INTEGER NOT NULL DEFAULT 0, -- when it may be served
      waits_for TEXT, -- the store or network that does not work; `due` is then when its request expires
      purged INTEGER NOT NULL DEFAULT 0, -- 1: it is being deleted
      known INTEGER NOT NULL DEFAULT 0 -- 1: something was sent there, or revealed
    ) STRICT;

    CREATE TABLE requests (
      id INTEGER PRIMARY KEY AUTOINCREMENT, -- grows with acceptance
      request TEXT NOT NULL UNIQUE, -- its name
      dropped_as TEXT NOT NULL, -- its name in new/
      inode INTEGER NOT NULL, -- with `born`: which directory it is
      born INTEGER NOT NULL, -- 0 where the filesystem keeps no time of birth
      conversation_id INTEGER REFERENCES conversations(id), -- NULL: it could not be read
      inbox TEXT NOT NULL,
      idempotency_key TEXT,
      digest TEXT, -- SHA-256 over what the client wrote
      state TEXT NOT NULL, -- queued, sent, failed, cancelled, duplicate; draft, abandoned
      cause TEXT, -- why it failed, in a word
      error TEXT, -- and in a sentence
      bytes INTEGER NOT NULL,
      duplicate_of TEXT, -- while it is queued: the request with the same key that it waits for
      accepted_at INTEGER NOT NULL,
      finished_at INTEGER,
      filed INTEGER NOT NULL DEFAULT 0, -- 1: its directory is at its last place; 2: it may not be moved there
      restored INTEGER NOT NULL DEFAULT 0, -- 1: its row was made from the spool
      owner INTEGER, -- the user, of a draft
      record TEXT -- the record of the cluster's queue with it, from the moment before it is appended
    ) STRICT;

    CREATE TABLE messages (
      id INTEGER PRIMARY KEY AUTOINCREMENT, -- the order of publishing
      message TEXT NOT NULL UNIQUE, -- the stable id, and the idempotency key on networks
      request_id INTEGER NOT NULL REFERENCES requests(id) ON DELETE CASCADE,
      conversation_id INTEGER NOT NULL REFERENCES conversations(id),
      position INTEGER NOT NULL, -- in its request
      kind TEXT NOT NULL, -- photo, text, profile, profile-removal
      file TEXT NOT NULL,
      bytes INTEGER NOT NULL, -- of the file as dropped
      digest TEXT NOT NULL, -- SHA-256 of the file as dropped
      state TEXT NOT NULL, -- pending, preparing, uploading, uploaded, publishing, relayed, sent, failed, cancelled
      attempts INTEGER NOT NULL DEFAULT 0, -- that were begun
      next_attempt INTEGER, -- not before then
      cause TEXT, -- why the last attempt failed, in a word
      error TEXT, -- and in a sentence
      sent_at INTEGER,
      remote TEXT, -- the network's id; also one that is only reserved
      draft INTEGER NOT NULL DEFAULT 0, -- 1 before Send
      begun_at INTEGER, -- when the attempt to publish began that runs or has succeeded
      offered_to TEXT -- the network and the address there that may have published it; NULL: surely none has
    ) STRICT;

    CREATE TABLE attempts (
      id INTEGER PRIMARY KEY,
      message TEXT NOT NULL,
      number INTEGER NOT NULL,
      step TEXT NOT NULL, -- prepare, upload, publish
      started_at INTEGER NOT NULL,
      ended_at INTEGER,
      cause TEXT,
      error TEXT
    ) STRICT;

    CREATE TABLE photos (
      message TEXT PRIMARY KEY,
      inbox TEXT NOT NULL,
      conversation_id INTEGER NOT NULL REFERENCES conversations(id),
      file TEXT NOT NULL, -- its name as dropped
      format TEXT NOT NULL, -- as dropped
      original_bytes INTEGER NOT NULL, -- as dropped
      original_width INTEGER NOT NULL,
      original_height INTEGER NOT NULL,
      bytes INTEGER NOT NULL, -- as sent
      width INTEGER NOT NULL,
      height INTEGER NOT NULL,
      digest TEXT NOT NULL, -- SHA-256 of the photo as sent
      path TEXT NOT NULL, -- its directory in the spool
      thumbnail_bytes INTEGER NOT NULL, -- of thumbnail and blurred preview
      url TEXT,
      url_expires_at INTEGER,
      attachment TEXT, -- JSON with the keys, from the moment it is published
      created_at INTEGER NOT NULL,
      uploaded_at INTEGER,
      downloaded_at INTEGER,
      viewed_at INTEGER,
      cached_bytes INTEGER NOT NULL DEFAULT 0, -- of the original that is there now
      cached_thumbnail_bytes INTEGER NOT NULL DEFAULT 0, -- of thumbnail and preview that are there now
      pinned INTEGER NOT NULL DEFAULT 0, -- 1: its request is not over, or it is the inbox's profile photo
      fetchable INTEGER NOT NULL DEFAULT 0, -- 1: `url` is good until `url_expires_at`
      recency INTEGER NOT NULL DEFAULT 0, -- grows with every viewing
      evicting INTEGER NOT NULL DEFAULT 0 -- 1: its original is being removed; 2: all of it
    ) STRICT;

    CREATE TABLE uploads (
      id INTEGER PRIMARY KEY,
      message TEXT NOT NULL, -- empty once its conversation was purged
      store TEXT NOT NULL,
      object TEXT NOT NULL,
      state TEXT NOT NULL, -- started, offered (its publishing began), published, abandoned (to be deleted), deleting
      started_at INTEGER NOT NULL,
      profile_of TEXT, -- the inbox, of an upload for its profile photo
      offered_to TEXT, -- of a profile photo: the network and the address there that its publishing began on
      sealed INTEGER NOT NULL DEFAULT 0 -- 1: no other message has the same object
    ) STRICT;

    CREATE TABLE received (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      message TEXT NOT NULL UNIQUE, -- the photo's id here
      inbox TEXT NOT NULL,
      conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
      remote TEXT NOT NULL, -- the message's id on its network
      position INTEGER NOT NULL, -- in a message of several photos; -1 of one that is `own`
      own INTEGER NOT NULL DEFAULT 0, -- 1: it was sent from here and is fetched again
      digest TEXT NOT NULL, -- SHA-256 of the attachment as dropped
      attachment TEXT NOT NULL, -- JSON with the keys
      state TEXT NOT NULL, -- offered, wanted, downloading, downloaded, failed, forgotten
      attempts INTEGER NOT NULL DEFAULT 0, -- since it was wanted
      next_attempt INTEGER,
      cause TEXT,
      error TEXT,
      received_at INTEGER NOT NULL,
      wanted_at INTEGER,
      revealed_at INTEGER, -- NULL while it is hidden
      host TEXT NOT NULL DEFAULT '', -- of its URL; empty for a file of this machine
      sender TEXT -- NULL when nobody says who sent it
    ) STRICT;

    CREATE TABLE profiles (
      inbox TEXT PRIMARY KEY,
      conversation_id INTEGER NOT NULL REFERENCES conversations(id), -- its name is U+0001 and the inbox
      message TEXT, -- that set it; NULL when it was removed
      network TEXT NOT NULL,
      url TEXT,
      changed_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE preferences (
      conversation_id INTEGER NOT NULL REFERENCES conversations(id),
      name TEXT NOT NULL, -- fetch, auto-reveal, revealed
      value TEXT NOT NULL,
      PRIMARY KEY (conversation_id, name)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE inbox_preferences (
      inbox TEXT NOT NULL,
      name TEXT NOT NULL, -- fetch
      value TEXT NOT NULL,
      PRIMARY KEY (inbox, name)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE cache_use (
      inbox TEXT PRIMARY KEY,
      photos INTEGER NOT NULL, -- originals that are there
      bytes INTEGER NOT NULL, -- of all that is there
      warned INTEGER NOT NULL DEFAULT 0 -- 1: it was said that the limit is passed
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE cache_total (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      photos INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      warned INTEGER NOT NULL DEFAULT 0,
      recency INTEGER NOT NULL -- the last one given
    ) STRICT;

    -- Totals that only grow, and the times of last events (`Totals`); `received.STATE` is how many there are now.
    CREATE TABLE counts (
      name TEXT PRIMARY KEY,
      value INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- Notes of one pass of the janitor for the next.
    CREATE TABLE janitor (
      name TEXT PRIMARY KEY,
      value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    """

  static let indexes = """
    CREATE INDEX conversations_due ON conversations(due) WHERE waiting > 0 AND held = 0;
    CREATE INDEX conversations_held ON conversations(id) WHERE held <> 0 AND waiting > 0;
    CREATE INDEX conversations_parked ON conversations(waits_for, due) WHERE waits_for IS NOT NULL;
    CREATE INDEX conversations_purged ON conversations(id) WHERE purged = 1;

    CREATE INDEX requests_identity ON requests(inode, born);
    CREATE INDEX requests_key ON requests(inbox, idempotency_key) WHERE idempotency_key IS NOT NULL;
    CREATE INDEX requests_conversation ON requests(conversation_id, id);
    CREATE INDEX requests_queued ON requests(accepted_at) WHERE state = 'queued';
    CREATE INDEX requests_unfiled ON requests(id) WHERE \(unfiled);
    CREATE INDEX requests_immovable ON requests(id) WHERE filed = 2;
    CREATE INDEX requests_over ON requests(state, finished_at) WHERE filed = 1;
    CREATE INDEX requests_drafts ON requests(conversation_id, inbox, id) WHERE state = 'draft';
    CREATE INDEX requests_drafts_named ON requests(dropped_as) WHERE state = 'draft';
    CREATE INDEX requests_drafts_owned ON requests(\(owner), id) WHERE state = 'draft';
    CREATE INDEX requests_abandoned ON requests(id) WHERE state = 'abandoned';

    CREATE INDEX messages_waiting ON messages(conversation_id, id) WHERE draft = 0 AND \(waiting);
    CREATE INDEX messages_in_progress ON messages(draft, state) WHERE \(inProgress);
    CREATE INDEX messages_drafts ON messages(id) WHERE draft = 1;
    CREATE INDEX messages_request ON messages(request_id, position);
    CREATE INDEX messages_conversation ON messages(conversation_id);
    CREATE INDEX attempts_message ON attempts(message, number);

    CREATE INDEX photos_conversation ON photos(conversation_id);
    CREATE INDEX photos_by_inbox ON photos(inbox, fetchable, recency) WHERE \(evictable);
    CREATE INDEX photos_by_recency ON photos(fetchable, recency) WHERE \(evictable);
    CREATE INDEX thumbnails_by_inbox ON photos(inbox, recency) WHERE \(evictableThumbnails);
    CREATE INDEX thumbnails_by_recency ON photos(recency) WHERE \(evictableThumbnails);
    CREATE INDEX photos_evicting ON photos(evicting) WHERE evicting > 0;
    CREATE INDEX photos_expiry ON photos(url_expires_at) WHERE fetchable = 1;
    CREATE INDEX photos_gone ON photos(created_at)
      WHERE cached_bytes = 0 AND cached_thumbnail_bytes = 0 AND fetchable = 0 AND pinned = 0;

    CREATE INDEX uploads_message ON uploads(message);
    CREATE INDEX uploads_object ON uploads(object);
    CREATE INDEX uploads_state ON uploads(state, id);
    CREATE INDEX uploads_profile ON uploads(profile_of) WHERE profile_of IS NOT NULL;

    CREATE UNIQUE INDEX received_remote ON received(inbox, remote, position);
    CREATE INDEX received_by_remote ON received(remote);
    CREATE INDEX received_conversation ON received(conversation_id, id);
    CREATE INDEX received_wanted ON received(next_attempt, id) WHERE \(wanted);
    CREATE INDEX received_wanted_order ON received(id, host, next_attempt, conversation_id) WHERE \(wanted);
    CREATE INDEX received_downloading ON received(id) WHERE state = 'downloading';
    CREATE INDEX received_forgettable ON received(\(forgettableSince)) WHERE \(forgettable);
    """

  /// They keep `cache_use`, `cache_total` and the counts of received photos by state exact in the transaction that changes a
  /// photo's row, and pin photos while their request is not over. A photo of a new request is pinned by what accepts it
  /// (`Database.pin`).
  static let triggers = """
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
    CREATE TRIGGER received_come AFTER INSERT ON received WHEN NEW.own = 0 BEGIN
      INSERT INTO counts VALUES ('received.' || NEW.state, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1;
    END;
    CREATE TRIGGER received_change AFTER UPDATE OF state ON received WHEN NEW.own = 0 BEGIN
      UPDATE counts SET value = value - 1 WHERE name = 'received.' || OLD.state;
      INSERT INTO counts VALUES ('received.' || NEW.state, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1;
    END;
    CREATE TRIGGER received_go AFTER DELETE ON received WHEN OLD.own = 0 BEGIN
      UPDATE counts SET value = value - 1 WHERE name = 'received.' || OLD.state;
    END;
    CREATE TRIGGER requests_pin AFTER UPDATE OF state ON requests
    WHEN (NEW.state = 'queued' OR NEW.state = 'draft') <> (OLD.state = 'queued' OR OLD.state = 'draft')
      AND EXISTS (SELECT 1 FROM messages WHERE request_id = NEW.id AND kind <> 'text') BEGIN
      UPDATE photos SET pinned = NEW.state = 'queued' OR NEW.state = 'draft'
        WHERE message IN (SELECT message FROM messages WHERE request_id = NEW.id);
    END;
    """
}
