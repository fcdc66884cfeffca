#!/usr/bin/env python3
"""Measures the cost of a request while the ledger holds the rows of very many finished ones, as it does for a week.
Prints figures without bounds.

1,000 texts are sent. Their rows are then multiplied, by SQL, as if as many had been sent by all the conversations; their
receipts are not, since nobody reads them. A request each, of 1,000 further texts in 20 conversations:

    a text      from the first rename to the last receipt
    start       from the start of the daemon to the first message that the webhook hears of
    memory      resident at most

Processor time is the daemon's. It is counted in ticks of 10 ms. `growth` is the cost of a text with the most rows divided by
that with the fewest.

    make build && .build/bench-python/bin/python Benchmarks/finished.py [--finished N,...] [--turns N]

PHOTOSPOOL names another program than .build/release/photospool.
"""

import argparse
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import measure
from backlog import HERE, PATIENCE, Clock, Daemon, counted, drop, has_filed_all
from texts import WebSink

PROBES = 1000
KINDS = {"text_ms": "a text, ms", "text_cpu_ms": "CPU ms", "start_ms": "start, ms", "memory_mib": "MiB"}


def multiply(ledger: Path, finished: int) -> None:
    """Has as many requests be over as are wanted, by copying the rows of those that are."""
    with sqlite3.connect(ledger) as database:
        first, count = database.execute("SELECT min(id), count(*) FROM requests WHERE state = 'sent'").fetchone()
        for copy in range(1, (finished + count - 1) // count):
            for table, key, names in (
                    ("requests", "id", {"id", "request", "dropped_as", "inode"}),
                    ("messages", "request_id", {"id", "message", "request_id"}),
                    ("attempts", None, {"id", "message"})):
                others = [column for _, column, *_ in database.execute(f"PRAGMA table_info({table})")
                          if column not in names]
                offset, own = copy * count, {
                    "id": "NULL" if table != "requests" else "id + :offset", "request": f"request || '.{copy}'",
                    "dropped_as": f"dropped_as || '.{copy}'", "inode": "inode + (:offset << 32)",
                    "message": f"message || '.{copy}'", "request_id": "request_id + :offset"}
                of_the_first = (f"{key} < {first + count}" if key else
                                f"message IN (SELECT message FROM messages WHERE request_id < {first + count})")
                database.execute(
                    f"INSERT INTO {table} ({', '.join([*sorted(names), *others])}) "
                    f"SELECT {', '.join([*(own[name] for name in sorted(names)), *others])} FROM {table} "
                    f"WHERE {of_the_first}", {"offset": offset})
    database.close()


def run(place: Path, finished: int) -> dict[str, float]:
    sink, spool = WebSink(place, place), place / "spool"
    environment = measure.environment_of(place, sink.port)
    daemon = Daemon(place, environment)
    try:
        daemon.is_ready(spool)
        for number in range(PROBES):
            drop(spool, number)
        measure.wait_until(lambda: len(list((spool / "sent").iterdir())) >= PROBES, PATIENCE)
        daemon.end()
        multiply(spool / "state/ledger.sqlite", finished)
        drop(spool, PROBES)
        begin = time.monotonic()
        daemon = Daemon(place, environment)
        measure.wait_until(lambda: sink.taken() > PROBES, PATIENCE, pause=0.0005)
        figures = {"start_ms": (time.monotonic() - begin) * 1000}
        # A large ledger is looked through beside the work after a start.
        measure.wait_until(daemon.is_idle, PATIENCE)
        clock = Clock(daemon)
        for number in range(PROBES + 1, 2 * PROBES + 1):
            drop(spool, number)
        measure.wait_until(lambda: counted(spool, "requests.sent") > 2 * PROBES and has_filed_all(spool), PATIENCE)
        return figures | clock.each("text", PROBES) | {"memory_mib": daemon.most_resident()}
    finally:
        daemon.process.kill()
        daemon.process.wait()
        sink.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--finished", default="1000,100000,1000000", help="how many are over (1000,100000,1000000)")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    sizes = [int(size) for size in options.finished.split(",")]
    print(f"a text, when so many are over; medians of {options.turns} turns; {measure.machine()}\n\n| over | "
          + " | ".join(KINDS.values()) + " |\n| ---: |" + " ---: |" * len(KINDS))
    turns = {size: [] for size in sizes}
    for _ in range(options.turns):
        for size in sizes:
            scratch = Path(tempfile.mkdtemp(prefix="photospool-finished."))
            try:
                subprocess.run(["cc", "-O2", "-o", scratch / "sink", HERE / "sink.c"], check=True)
                turns[size].append(run(scratch, size))
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
    figures = {size: {kind: statistics.median(turn[kind] for turn in of) for kind in KINDS} for size, of in turns.items()}
    for size, of in figures.items():
        print(f"| {size:,} | " + " | ".join(f"{of[kind]:,.{0 if of[kind] >= 100 else 2}f}" for kind in KINDS) + " |")
    growth = {kind: figures[sizes[-1]][kind] / max(figures[sizes[0]][kind], 0.01) for kind in KINDS}
    print("| growth | " + " | ".join(f"{ratio:.2f}" for ratio in growth.values()) + " |")
    measure.keep("finished", {"turns": turns, "growth": growth})
    measure.plot("finished", "Processor time of a text, by how many are over", "ms", {
        "a text": {f"{size:,}": of["text_cpu_ms"] for size, of in figures.items()}})


if __name__ == "__main__":
    main()
