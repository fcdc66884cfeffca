/// The table of counts, and the triggers that keep it: what changes a row, in whatever process of ours, counts in the same
/// transaction. So what is asked all the time costs the same with ten messages and with a million.
enum CountsSchema {
  /// Rows: `messages.STATE` and `drafts`, `conversations.waiting`, `.held`, `.parked` say what is there now. All others
  /// only grow: `requests.STATE` (how many became that), `sent.KIND`, `prepared…`, `setbacks.CAUSE`; and `last_sent` is a
  /// time.
  static let migration = """
    CREATE TABLE counts (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO counts SELECT 'messages.' || column1, (SELECT count(*) FROM messages WHERE draft = 0 AND state = column1)
      FROM (VALUES ('pending'), ('preparing'), ('uploading'), ('uploaded'), ('publishing'));
    INSERT INTO counts SELECT 'requests.' || column1, (SELECT count(*) FROM requests WHERE state = column1)
      FROM (VALUES ('sent'), ('failed'), ('cancelled'), ('duplicate'));
    INSERT INTO counts SELECT 'sent.' || column1, (SELECT count(*) FROM messages WHERE kind = column1 AND state = 'sent')
      FROM (VALUES ('photo'), ('text'));
    INSERT INTO counts VALUES
      ('requests.queued', (SELECT count(*) FROM requests WHERE state NOT IN ('draft','abandoned','duplicate'))),
      ('drafts', (SELECT count(*) FROM requests WHERE state = 'draft')),
      ('conversations.waiting', (SELECT count(*) FROM conversations WHERE waiting > 0)),
      ('conversations.held', (SELECT count(*) FROM conversations WHERE waiting > 0 AND held <> 0)),
      ('conversations.parked', (SELECT count(*) FROM conversations WHERE waiting > 0 AND waits_for IS NOT NULL)),
      ('prepared', (SELECT count(*) FROM photos)),
      ('prepared.original_bytes', (SELECT coalesce(sum(original_bytes), 0) FROM photos)),
      ('prepared.bytes', (SELECT coalesce(sum(bytes), 0) FROM photos)),
      ('last_sent', (SELECT coalesce(max(sent_at), 0) FROM messages));
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
    """

  /// The triggers of messages and requests anew. They change no row of `counts` by themselves, but have it counted together
  /// what a whole transaction does (`Tallies`). Nor does one that pins photos run for every text: what accepts a
  /// photo pins it (`Database.pin`), and one trigger does the rest.
  ///
  /// A program that makes, moves or removes messages or requests without these functions is refused by SQLite: it would
  /// count wrongly.
  static let asSums = """
    DROP TRIGGER count_message_made;
    CREATE TRIGGER count_message_made AFTER INSERT ON messages WHEN NEW.draft = 0 BEGIN
      SELECT tally(\(waiting("NEW")), 1);
    END;
    DROP TRIGGER count_message_gone;
    CREATE TRIGGER count_message_gone AFTER DELETE ON messages WHEN OLD.draft = 0 BEGIN
      SELECT tally(\(waiting("OLD")), -1);
    END;
    DROP TRIGGER count_message_moved;
    CREATE TRIGGER count_message_moved AFTER UPDATE OF state ON messages WHEN NEW.draft = 0 AND OLD.state <> NEW.state BEGIN
      SELECT tally(\(waiting("OLD")), -1), tally(\(waiting("NEW")), 1);
    END;
    DROP TRIGGER count_message_sent;
    CREATE TRIGGER count_message_sent AFTER UPDATE OF sent_at ON messages WHEN NEW.sent_at IS NOT NULL BEGIN
      SELECT tally('sent.' || NEW.kind, OLD.sent_at IS NULL), latest('last_sent', NEW.sent_at);
    END;
    DROP TRIGGER count_setback;
    CREATE TRIGGER count_setback AFTER UPDATE OF cause ON messages WHEN NEW.cause IS NOT NULL BEGIN
      SELECT tally('setbacks.' || NEW.cause, 1);
    END;

    DROP TRIGGER count_request_made;
    DROP TRIGGER count_draft_made;
    CREATE TRIGGER count_request_made AFTER INSERT ON requests BEGIN
      SELECT tally(\(accepted("NEW")), 1), tally('drafts', NEW.state = 'draft');
    END;
    DROP TRIGGER count_request_moved;
    DROP TRIGGER count_draft_moved;
    CREATE TRIGGER count_request_moved AFTER UPDATE OF state ON requests WHEN OLD.state <> NEW.state BEGIN
      SELECT tally(\(accepted("NEW")), 1), tally('drafts', (NEW.state = 'draft') - (OLD.state = 'draft'));
    END;
    DROP TRIGGER count_request_gone;
    CREATE TRIGGER count_request_gone AFTER DELETE ON requests WHEN OLD.state = 'draft' BEGIN
      SELECT tally('drafts', -1);
    END;

    DROP TRIGGER messages_pin;
    DROP TRIGGER requests_pin;
    DROP TRIGGER requests_unpin;
    CREATE TRIGGER requests_pin AFTER UPDATE OF state ON requests
    WHEN (NEW.state = 'queued' OR NEW.state = 'draft') <> (OLD.state = 'queued' OR OLD.state = 'draft')
      AND EXISTS (SELECT 1 FROM messages WHERE request_id = NEW.id AND kind <> 'text') BEGIN
      UPDATE photos SET pinned = NEW.state = 'queued' OR NEW.state = 'draft'
        WHERE message IN (SELECT message FROM messages WHERE request_id = NEW.id);
    END;
    """

  /// The count of messages in such a state; NULL where they are over, which is not counted.
  private static func waiting(_ row: String) -> String {
    """
    CASE WHEN \(row).state <> 'sent' AND \(row).state <> 'failed' AND \(row).state <> 'cancelled'
      THEN 'messages.' || \(row).state END
    """
  }

  /// The count of requests that came into such a state; NULL of drafts, sent and given up.
  private static func accepted(_ row: String) -> String {
    "CASE WHEN \(row).state <> 'draft' AND \(row).state <> 'abandoned' THEN 'requests.' || \(row).state END"
  }
}
