"""The janitor killed at the k-th call of an eviction; janitor, command and daemon killed at the k-th call of a purge; the
daemon killed at the k-th call of bringing an earlier ledger up to date."""

import os
import pathlib
import shutil
import sqlite3

import place as places
from scenario import scenario


@scenario("janitor killed at every call: eviction", parts=2)
def eviction(part):
    place = part.place()
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
        was_killed = part.killed_and_again(place, k, "janitor")
        kept, = place.ledger("SELECT bytes FROM cache_total")[0]
        if kept > total // 4:
            part.complain("CLEAN", f"the cache is beyond its limit after k={k}: {kept} bytes")
        part.judge(place)
        return was_killed

    part.sweep(once, cheap=6)


@scenario("janitor killed at every call: purge", parts=4, by="janitor")
@scenario("daemon killed at every call: purge", parts=4, by="daemon")
def purged(part, by):
    place = part.place()
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
            # The daemon deletes abandoned uploads.
        place.settle()
        part.judge(place, purged=["MARKERgone"])
        return status != 0

    part.sweep(once)


def widths_of(place, conversation):
    return {width for entry in place.clients.read() if entry.get("conversation") == conversation
            for width in entry["widths"]}


LEDGERS = pathlib.Path(__file__).resolve().parents[2] / "Support/ledgers"
# Programs whose ledgers are kept as SQL, each a change of the one before it.
KEPT = ["v1", "v9", "v16", "v18", "v18-places"]
EARLIER = ["v1", "v16", "v18"]
SCHEMA = "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name"


def take_back(path, version):
    """Makes the ledger one of an earlier program, with the rows that it has."""
    os.rename(path, f"{path}.newer")
    earlier = sqlite3.connect(path, isolation_level=None)
    # Its triggers count with functions of that program.
    for name in ("tally", "latest"):
        earlier.create_function(name, 2, lambda name, value: None)
    for program in KEPT[:KEPT.index(version) + 1]:
        earlier.executescript((LEDGERS / f"{program}.sql").read_text())
    earlier.execute("PRAGMA journal_mode = WAL")
    earlier.execute("ATTACH ? AS newer", [f"{path}.newer"])
    def tables(schema):
        return {name for name, in earlier.execute(f"SELECT name FROM {schema}.sqlite_master WHERE type = 'table'")}
    def columns(schema, table):
        return {row[1] for row in earlier.execute(f"PRAGMA {schema}.table_info({table})")}
    triggers = earlier.execute("SELECT name, sql FROM main.sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        earlier.execute(f"DROP TRIGGER {name}")
    for table in sorted(tables("main") & tables("newer") - {"grdb_migrations", "sqlite_sequence"}):
        names = ", ".join(sorted(columns("main", table) & columns("newer", table)))
        earlier.execute(f"INSERT OR REPLACE INTO main.{table} ({names}) SELECT {names} FROM newer.{table}")
    if version == "v1":
        # Every attempt had a row of its own.
        earlier.execute("""
            INSERT INTO attempts (message, number, step, started_at, ended_at)
            SELECT message, attempts, 'publish', begun_at, sent_at FROM newer.messages WHERE begun_at IS NOT NULL""")
    for _, sql in triggers:
        earlier.execute(sql)
    earlier.execute("DETACH newer")
    earlier.close()
    os.remove(f"{path}.newer")


@scenario("daemon killed at every call: an earlier ledger is brought up to date", parts=2)
def migration(part):
    # Each part has its version, and takes every call; fewer faults are those of one version.
    for version in EARLIER[part.number::part.parts] if part.step == 1 else [part.random.choice(EARLIER)]:
        migrated(part, version)


def migrated(part, version):
    place = part.place()
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
    take_back(f"{place.spool}/state/ledger.sqlite", version)
    template = f"{place.path}/template"
    copy(place.spool, template)

    def once(k):
        place.context = f"from {version}, k={k}"
        renew(place.spool, template)
        daemon = place.start(**place.killing(k))
        daemon.ready()
        status = daemon.stop()
        place.context += f", {place.call(k)}"
        place.photospool("release", "family")
        place.settle()
        if place.ledger(SCHEMA) != newest:
            part.complain("CLEAN", f"the ledger is not the newest after {place.context}")
        part.judge(place)
        return status != 0

    # All k's of this version are this part's own.
    part.sweep_alone(once, part.step)


def renew(spool, template):
    """Puts the template in the place of the spool."""
    shutil.rmtree(spool, ignore_errors=True)
    copy(template, spool)


def copy(spool, other):
    # Without the sockets of a daemon that was killed.
    shutil.copytree(spool, other, symlinks=True, ignore=shutil.ignore_patterns("control"))
