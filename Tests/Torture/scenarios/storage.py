"""The janitor killed at the k-th call of an eviction; janitor, command and daemon killed at the k-th call of a purge; the
daemon killed at the k-th call of bringing an earlier ledger up to date."""

import os
import shutil
import sqlite3

import place as places
from scenario import scenario


@scenario("janitor killed at every call: eviction", parts=2)
def eviction(part):
    place = part.place()
    place.make()
    for number in range(6):
        place.drop(f"c{number}", 2)
    place.settle()
    template = f"{place.path}/template"
    copy(place.spool, template)
    # So many bytes that about half of the photos go, and their thumbnails.
    total, = place.ledger("SELECT bytes FROM cache_total")[0]
    place.configure(f"cache: {{inbox: {total * 2 // 3}, total: {total // 4}}}\n")

    def once(k):
        place.context = f"k={k}"
        renew(place.spool, template)
        killed = place.photospool("janitor", environment=place.killing(k))
        place.context = f"k={k}, {place.call(k)}"
        if killed.returncode not in (0, -9):
            part.complain("ALIVE", f"the janitor ended with {killed.returncode}: {killed.stderr[-200:]}")
        again = place.photospool("janitor")
        if again.returncode != 0:
            part.complain("ALIVE", f"the janitor after it ended with {again.returncode}: {again.stderr[-200:]}")
        kept, = place.ledger("SELECT bytes FROM cache_total")[0]
        if kept > total // 4:
            part.complain("CLEAN", f"the cache is beyond its limit after k={k}: {kept} bytes")
        part.judge(place)
        return killed.returncode != 0

    part.sweep(once)


def purged(part, by):
    place = part.place()
    place.make()
    names = ("MARKERgone", "stays")
    for name in names:
        place.drop(name, 2)
    place.settle()
    place.photospool("hold", "MARKERgone")
    place.drop("MARKERgone", 1, bad=True)
    place.drop("MARKERgone", 1)
    place.build(place.begin("MARKERgone", 1), "refused")
    places.write(f"{place.spool}/tmp/refused/nonsense", "text")
    os.rename(f"{place.spool}/tmp/refused", f"{place.spool}/new/refused")
    daemon = place.start()
    daemon.ready()
    places.until(lambda: len(os.listdir(f"{place.spool}/cur")) == 2 and os.listdir(f"{place.spool}/failed"),
                 "the requests are not accepted")
    daemon.stop()
    place.drop("MARKERgone", 1)
    place.drop("MARKERgone", 1, to="draft")
    place.build(place.begin("MARKERgone", 1), "building")
    for name in ("tmp", "new", "cur", "failed"):
        os.mkdir(f"{place.spool}/incoming/{name}/received")
        places.write(f"{place.spool}/incoming/{name}/received/from-conversation", "MARKERgone\n")
    # Every byte of the photo that is in the cache, too.
    place.secrets = [places.photo(width) for width in places.WIDTHS if width in widths_of(place, "MARKERgone")
                     and width not in widths_of(place, "stays")]
    # The `local` network's objects go with their keys.
    place.published = set() if place.kind == "local" else {entry["digest"] for entry in place.effects()}
    template = f"{place.path}/template"
    copy(place.spool, template)

    def once(k):
        place.context = f"k={k}"
        renew(place.spool, template)
        places.write(f"{place.spool}/purge/please", "MARKERgone\n")
        environment = place.killing(k)
        if by == "daemon":
            daemon = place.start(**environment)
            daemon.ready()
            status = daemon.stop()
        else:
            status = place.photospool("janitor", environment=environment).returncode
        place.context = f"k={k}, {place.call(k)}"
        if status not in (0, -9):
            part.complain("ALIVE", f"the {by} ended with {status}")
        if k % 2:
            place.photospool("janitor")
            # What was uploaded for nothing is the daemon's to delete.
        place.settle()
        part.judge(place, purged=["MARKERgone"])
        return status != 0

    part.sweep(once)


def widths_of(place, conversation):
    return {width for entry in place.clients.read() if entry.get("conversation") == conversation
            for width in entry["widths"]}


@scenario("janitor killed at every call: purge", parts=4)
def purge_by_janitor(part):
    purged(part, "janitor")


@scenario("daemon killed at every call: purge", parts=4)
def purge_by_daemon(part):
    purged(part, "daemon")


# What takes the newest ledger back to an earlier one, the newest change first.
BACK = {
    "v17 drafts by owner": ["requests_drafts_owned"],
    "v16 requests that stay where they are, owners of drafts": ["requests_immovable", "requests.owner"],
    "v15 counts as sums": [],
    "v14 attempts that succeed stand with their messages": ["messages.begun_at"],
    "v13 states without lists": ["messages_waiting", "messages_in_hand", "requests_unfiled"],
    "v12 senders of received photos": ["received.sender"],
    "v11 announcements are forgotten": ["received_forgettable"],
    "v10 hosts and counts of received photos, preferences of inboxes": [
        "received_wanted_order", "inbox_preferences", "received.host"],
    "v9 profiles": ["profiles", "uploads_profile", "uploads.profile_of"],
    "v8 pages without remains": [],
    "v7 rebuilt ledgers": ["requests.restored"],
    "v6 received photos": ["received", "conversations.known"],
    "v5 counts": ["counts", "requests_queued", "conversations_held"],
    "v4 the size of the cache, purges": [
        "cache_use", "cache_total", "janitor", "conversations_purged", "requests_conversation", "requests_over",
        "messages_conversation", "photos_conversation", "photos_by_inbox", "photos_by_recency", "thumbnails_by_inbox",
        "thumbnails_by_recency", "photos_evicting", "photos_expiry", "photos_gone", "conversations.purged",
        "photos.cached_bytes", "photos.cached_thumbnail_bytes", "photos.pinned", "photos.fetchable", "photos.recency",
        "photos.evicting"],
    "v3 drafts": [
        "messages_waiting", "messages_drafts", "requests_unfiled", "requests_drafts", "requests_drafts_named",
        "requests_abandoned", "messages.draft"],
    "v2 conversations wait for destinations": ["conversations_parked", "conversations.waits_for"],
}
# The rows that a change had put elsewhere.
ROWS = {
    "v14 attempts that succeed stand with their messages": """
    INSERT INTO attempts (message, number, step, started_at, ended_at)
      SELECT message, attempts, 'publish', begun_at, sent_at FROM messages WHERE begun_at IS NOT NULL"""}
# The indexes that a change had replaced, and the rows that it adds.
BEFORE = {
    "v15 counts as sums": """
    DROP TRIGGER count_message_made; DROP TRIGGER count_message_gone; DROP TRIGGER count_message_moved;
    DROP TRIGGER count_message_sent; DROP TRIGGER count_setback; DROP TRIGGER count_request_made;
    DROP TRIGGER count_request_moved; DROP TRIGGER count_request_gone; DROP TRIGGER requests_pin;
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
    END;
    CREATE TRIGGER count_draft_made AFTER INSERT ON requests WHEN NEW.state = 'draft' BEGIN
      UPDATE counts SET value = value + 1 WHERE name = 'drafts';
    END;
    CREATE TRIGGER count_request_moved AFTER UPDATE OF state ON requests WHEN OLD.state <> NEW.state BEGIN
      UPDATE counts SET value = value + 1 WHERE name = 'requests.' || NEW.state;
    END;
    CREATE TRIGGER count_draft_moved AFTER UPDATE OF state ON requests
    WHEN (NEW.state = 'draft') <> (OLD.state = 'draft') BEGIN
      UPDATE counts SET value = value + (NEW.state = 'draft') - (OLD.state = 'draft') WHERE name = 'drafts';
    END;
    CREATE TRIGGER count_request_gone AFTER DELETE ON requests WHEN OLD.state = 'draft' BEGIN
      UPDATE counts SET value = value - 1 WHERE name = 'drafts';
    END;
    CREATE TRIGGER messages_pin AFTER INSERT ON messages WHEN NEW.kind = 'photo' BEGIN
      UPDATE photos SET pinned = 1 WHERE message = NEW.message AND pinned = 0;
    END;
    CREATE TRIGGER requests_pin AFTER UPDATE OF state ON requests
    WHEN NEW.state IN ('queued','draft') AND OLD.state NOT IN ('queued','draft') BEGIN
      UPDATE photos SET pinned = 1 WHERE message IN (SELECT message FROM messages WHERE request_id = NEW.id);
    END;
    CREATE TRIGGER requests_unpin AFTER UPDATE OF state ON requests
    WHEN NEW.state NOT IN ('queued','draft') AND OLD.state IN ('queued','draft')
      AND EXISTS (SELECT 1 FROM messages WHERE request_id = NEW.id AND kind <> 'text') BEGIN
      UPDATE photos SET pinned = 0 WHERE message IN (SELECT message FROM messages WHERE request_id = NEW.id);
    END;""",
    "v13 states without lists": """
    CREATE INDEX messages_waiting ON messages(conversation_id, id)
      WHERE draft = 0 AND state NOT IN ('sent','failed','cancelled');
    CREATE INDEX messages_in_hand ON messages(id) WHERE state IN ('preparing','uploading','uploaded');
    CREATE INDEX requests_unfiled ON requests(id) WHERE filed = 0 AND state NOT IN ('queued','draft','abandoned');
    DROP TRIGGER requests_unpin; DROP TRIGGER count_request_made; DROP TRIGGER count_request_moved;
    DROP TRIGGER count_draft_made; DROP TRIGGER count_draft_moved;
    CREATE TRIGGER requests_unpin AFTER UPDATE OF state ON requests
    WHEN NEW.state NOT IN ('queued','draft') AND OLD.state IN ('queued','draft') BEGIN
      UPDATE photos SET pinned = 0 WHERE message IN (SELECT message FROM messages WHERE request_id = NEW.id);
    END;
    CREATE TRIGGER count_request_made AFTER INSERT ON requests BEGIN
      UPDATE counts SET value = value + 1 WHERE name = 'requests.' || NEW.state;
      UPDATE counts SET value = value + 1 WHERE name = 'drafts' AND NEW.state = 'draft';
    END;
    CREATE TRIGGER count_request_moved AFTER UPDATE OF state ON requests WHEN OLD.state <> NEW.state BEGIN
      UPDATE counts SET value = value + 1 WHERE name = 'requests.' || NEW.state;
      UPDATE counts SET value = value + (NEW.state = 'draft') - (OLD.state = 'draft') WHERE name = 'drafts';
    END;""",
    "v11 announcements are forgotten": "DELETE FROM counts WHERE name = 'received.forgotten'",
    "v10 hosts and counts of received photos, preferences of inboxes": """
    DROP TRIGGER count_received_made; DROP TRIGGER count_received_gone; DROP TRIGGER count_received_moved;
    DROP TRIGGER count_download_setback; DROP TRIGGER count_photo_prepared;
    DELETE FROM counts WHERE name IN ('received', 'downloads') OR name LIKE 'received.%'
      OR name LIKE 'download_setbacks.%';
    CREATE TRIGGER count_photo_prepared AFTER INSERT ON photos BEGIN
      UPDATE counts SET value = value + 1 WHERE name = 'prepared';
      UPDATE counts SET value = value + NEW.original_bytes WHERE name = 'prepared.original_bytes';
      UPDATE counts SET value = value + NEW.bytes WHERE name = 'prepared.bytes';
    END;""",
    "v9 profiles": "DELETE FROM counts WHERE name IN ('sent.profile', 'sent.profile-removal')",
    "v8 pages without remains": "DELETE FROM janitor WHERE name = 'remains'",
    "v3 drafts": """
    CREATE INDEX messages_waiting ON messages(conversation_id, id) WHERE state NOT IN ('sent','failed','cancelled');
    CREATE INDEX requests_unfiled ON requests(id) WHERE filed = 0 AND state <> 'queued';"""}

SCHEMA = "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name"


def take_back(path, last):
    """Makes the ledger one of before the change `last`."""
    ledger = sqlite3.connect(path, isolation_level=None)
    known = {name for name, in ledger.execute("SELECT identifier FROM grdb_migrations")}
    if known - set(BACK) != {"v1 requests, messages, photos"}:
        raise ValueError(f"the scenario does not know how to take back {known}")
    for change, things in BACK.items():
        ledger.executescript(ROWS.get(change, ""))
        # What is left of the triggers belongs to these two.
        for trigger, in ledger.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            if change.startswith("v4") or change.startswith("v5") and trigger.startswith("count_"):
                ledger.execute(f"DROP TRIGGER {trigger}")
        kinds = dict(ledger.execute("SELECT name, type FROM sqlite_master").fetchall())
        for thing in [thing for thing in things if "." not in thing]:
            if kinds[thing] == "index":
                ledger.execute(f"DROP INDEX {thing}")
        for thing in things:
            table, _, column = thing.partition(".")
            if column:
                ledger.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
            elif kinds[thing] == "table":
                ledger.execute(f"DROP TABLE {thing}")
        ledger.executescript(BEFORE.get(change, ""))
        ledger.execute("DELETE FROM grdb_migrations WHERE identifier = ?", [change])
        if change == last:
            break
    ledger.close()


@scenario("daemon killed at every call: an earlier ledger is brought up to date", parts=4)
def migration(part):
    # Each part has its versions, and takes every call; fewer faults are those of one version.
    for last in list(BACK)[part.number::part.parts] if part.step == 1 else [part.random.choice(list(BACK))]:
        migrated(part, last)


def migrated(part, last):
    place = part.place()
    place.make()
    place.drop("family", 1)
    place.settle()
    newest = place.ledger(SCHEMA)
    # One that was sent, and one that waits in cur/.
    place.photospool("hold", "family")
    place.drop("family", 1)
    daemon = place.start()
    daemon.ready()
    places.until(lambda: os.listdir(f"{place.spool}/cur"), "the request is not accepted")
    daemon.stop()
    take_back(f"{place.spool}/state/ledger.sqlite", last)
    template = f"{place.path}/template"
    copy(place.spool, template)

    def once(k):
        place.context = f"before {last}, k={k}"
        renew(place.spool, template)
        daemon = place.start(**place.killing(k))
        daemon.ready()
        status = daemon.stop()
        place.context += f", {place.call(k)}"
        if not is_prefix({name for name, in place.ledger("SELECT identifier FROM grdb_migrations")}):
            part.complain("CLEAN", f"the ledger is half brought up to date after {place.context}")
        place.photospool("release", "family")
        place.settle()
        if place.ledger(SCHEMA) != newest:
            part.complain("CLEAN", f"the ledger is not the newest after {place.context}")
        part.judge(place)
        return status != 0

    # All k's of this version are this part's own.
    k = 1 + part.random.randrange(part.step)
    while once(k):
        part.fault(kind="killed")
        k += part.step


def is_prefix(made):
    """Whether the changes that were made are the first ones of the list; each is a transaction."""
    order = ["v1 requests, messages, photos", *reversed(BACK)]
    return made == set(order[:len(made)])


def renew(spool, template):
    """Puts the template in the place of the spool."""
    shutil.rmtree(spool, ignore_errors=True)
    copy(template, spool)


def copy(spool, other):
    # Without the sockets of a daemon that was killed.
    shutil.copytree(spool, other, symlinks=True, ignore=shutil.ignore_patterns("control"))
