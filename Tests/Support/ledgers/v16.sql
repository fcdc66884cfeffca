-- What a program of sixteen migrations made of that ledger.
DROP INDEX messages_in_hand;
DROP INDEX messages_waiting;
DROP INDEX requests_unfiled;
DROP TRIGGER messages_pin;
DROP TRIGGER requests_pin;
DROP TRIGGER requests_unpin;
DROP TRIGGER count_message_made;
DROP TRIGGER count_message_gone;
DROP TRIGGER count_message_moved;
DROP TRIGGER count_message_sent;
DROP TRIGGER count_setback;
DROP TRIGGER count_request_made;
DROP TRIGGER count_request_moved;
DROP TRIGGER count_request_gone;
DROP TRIGGER count_photo_prepared;
ALTER TABLE requests ADD COLUMN owner INTEGER;
ALTER TABLE messages ADD COLUMN begun_at INTEGER;
ALTER TABLE received ADD COLUMN host TEXT NOT NULL DEFAULT '';
ALTER TABLE received ADD COLUMN sender TEXT;
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
INSERT INTO grdb_migrations VALUES
  ('v10 hosts and counts of received photos, preferences of inboxes'),
  ('v11 announcements are forgotten'),
  ('v12 senders of received photos'),
  ('v13 states without lists'),
  ('v14 attempts that succeed stand with their messages'),
  ('v15 counts as sums'),
  ('v16 requests that stay where they are, owners of drafts');
INSERT INTO counts VALUES
  ('downloads', 0),
  ('received', 0),
  ('received.downloaded', 0),
  ('received.downloading', 0),
  ('received.failed', 0),
  ('received.forgotten', 0),
  ('received.offered', 0),
  ('received.wanted', 0);
