"""Power cuts at the k-th call of an eviction: the next pass finds where files and ledger disagree, and no more is lost
than was to be evicted."""

import pathlib

import disks
from machine import a_machine
from scenario import scenario
from scenarios.powercut import WAYS

COUNT = 6


def fill(made):
    """Photos of several conversations in the cache, of which about half have to go."""
    made.begin()
    daemon = made.start()
    for number in range(COUNT):
        made.drop(f"r{number}", f"c{number}", f"{number}", made.photo)
    daemon.wait_for(lambda: daemon.text().count('event="request sent"') == COUNT)
    daemon.stop()
    total = made.ledger("SELECT bytes FROM cache_total")[0]["bytes"]
    made.limit = total // 2
    pathlib.Path(made.configuration).write_text(f"cache: {{inbox: {made.limit}, total: {made.limit}}}\n")
    made.keep()


def eviction(part, kind, way):
    with a_machine(kind) as made:
        act, flag = WAYS[way]
        fill(made)

        def once(k):
            made.begin()
            state = made.state()
            made.photospool("janitor", environment=made.under_shim(state, at=k, act=act))
            met = state.faults > 0
            made.disk.lose_power(flag)
            where = f"after a cut at call {k} of the eviction"
            made.finish()
            done = made.photospool("janitor")
            if done.returncode:
                part.complain("ALIVE", f"the janitor ended with {done.returncode}: {done.stderr[-200:]} {where}")
            judge(made, part, where)
            part.accepted(COUNT)
            return met

        part.sweep(once)


def judge(made, part, where):
    files = {str(path.relative_to(made.spool)): path.stat().st_size
             for path in (made.spool / "photos").rglob("*.jpg")}
    rows = set()
    for row in made.ledger("SELECT path, cached_bytes, cached_thumbnail_bytes FROM photos"):
        rows |= {f"{row['path']}/original.jpg"} if row["cached_bytes"] else set()
        rows |= {f"{row['path']}/{name}.jpg" for name in ("thumbnail", "blurred")} if row["cached_thumbnail_bytes"] else set()
    if files.keys() != rows:
        part.complain("CLEAN", f"the cache has {sorted(files.keys() - rows)}, the ledger {sorted(rows - files.keys())} {where}")
    total = made.ledger("SELECT bytes FROM cache_total")[0]["bytes"]
    if total != sum(files.values()) or total > made.limit:
        part.complain("CLEAN", f"the cache takes {sum(files.values())} bytes, is said to take {total}, of {made.limit} {where}")
    for number in range(COUNT):
        lines = made.published(f"c{number}")
        if [line["kind"] for line in lines] != ["photo", "text"]:
            part.complain("LOST", f"c{number} was published as {len(lines)} messages {where}")
        for line in lines:
            if line["kind"] == "photo" and not (made.spool / "objects" / line["attachment"]["contentDigest"]).exists():
                part.complain("LOST", f"the object of r{number} {where}")
    made.judge_leftovers(part, where)


for kind in disks.KINDS:
    for way in WAYS:
        scenario(f"power cut: eviction, {kind}, {way}", kind=kind, way=way)(eviction)
