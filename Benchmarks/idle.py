#!/usr/bin/env python3
"""Measures an idle daemon: memory and wake-ups after its start and after it has sent texts, and how long the first request
after a pause takes to the network. Prints figures without bounds.

    make build && .build/bench-python/bin/python Benchmarks/idle.py [--seconds N] [--firsts N]

PHOTOSPOOL names another program than .build/release/photospool.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import measure
from measure import PHOTOSPOOL

# Threads of pools that have nothing to do end within this time, in seconds.
PAUSE = 25


def memory(pid: int) -> dict[str, float]:
    """MiB of the daemon itself: resident, its share of what others map, too, and what no file holds."""
    names = {"Rss": "resident", "Pss": "share", "Anonymous": "anonymous"}
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return {names[name]: int(rest.split()[0]) / 1024
            for name, _, rest in (line.partition(":") for line in lines) if name in names}


def switches(pid: int) -> dict[str, int]:
    """How often each thread has gone to sleep: it was woken as often."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            status = (task / "status").read_text()
        except OSError:
            continue
        found[task.name] = sum(int(line.split()[1]) for line in status.splitlines() if line.startswith("voluntary"))
    return found


def wakeups(pid: int, seconds: float) -> float:
    """A minute, over all threads that were there at the end."""
    before, begin = switches(pid), time.monotonic()
    time.sleep(seconds)
    after = switches(pid)
    return sum(count - before.get(task, 0) for task, count in after.items()) * 60 / (time.monotonic() - begin)


def drop(spool: Path, name: str) -> float:
    """Returns the milliseconds from the rename until the local network has the text."""
    begin = measure.drop(spool, name, name, name)
    measure.wait_until((spool / "published" / f"{name}.jsonl").exists, 60, 0.0005)
    return (time.monotonic() - begin) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60, help="of idleness for each count of wake-ups")
    parser.add_argument("--firsts", type=int, default=5, help="requests after a pause of their own")
    options = parser.parse_args()
    scratch, daemon = Path(tempfile.mkdtemp(prefix="photospool-idle.")), None
    spool = scratch / "spool"
    environment = os.environ | {"PHOTOSPOOL_SPOOL": str(spool)}
    rows: dict[str, dict[str, float]] = {}
    try:
        with open(scratch / "log", "wb") as log:
            daemon = subprocess.Popen([PHOTOSPOOL, "run"], env=environment, stdout=subprocess.DEVNULL, stderr=log)
        measure.wait_until(lambda: b"event=ready" in (scratch / "log").read_bytes(), 60)
        rows["at the start"] = memory(daemon.pid)
        time.sleep(PAUSE)
        rows["idle"] = memory(daemon.pid) | {"wake-ups a minute": wakeups(daemon.pid, options.seconds)}
        rows["a minute later"] = memory(daemon.pid)
        for number in range(20):
            drop(spool, f"warm-{number}")
        steady = [drop(spool, f"steady-{number}") for number in range(50)]
        rows["after 70 texts"] = memory(daemon.pid)
        firsts = []
        for number in range(options.firsts):
            time.sleep(PAUSE)
            firsts.append(drop(spool, f"first-{number}"))
        time.sleep(PAUSE)
        rows["idle again"] = memory(daemon.pid) | {"wake-ups a minute": wakeups(daemon.pid, options.seconds)}
    finally:
        measure.end(daemon)
        shutil.rmtree(scratch, ignore_errors=True)
    columns = ["resident", "share", "anonymous", "wake-ups a minute"]
    print(f"MiB of the daemon; {measure.machine()}\n\n| | {' | '.join(columns)} |\n| --- |{' ---: |' * len(columns)}")
    for name, row in rows.items():
        print(f"| {name} | " + " | ".join(f"{row[column]:.1f}" if column in row else "-" for column in columns) + " |")
    print(f"\nmilliseconds to the local network, median: {statistics.median(steady):.1f} one after the other, "
          f"{statistics.median(firsts):.1f} after a pause ({measure.spread(firsts, 1)})")
    measure.plot("idle", "A daemon that does nothing", "MiB", {
        column: {name: row[column] for name, row in rows.items()} for column in ("resident", "anonymous")})
    measure.keep("idle", {"rows": rows, "milliseconds": {"steady": steady, "idle": firsts}})


if __name__ == "__main__":
    main()
