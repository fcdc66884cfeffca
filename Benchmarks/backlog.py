#!/usr/bin/env python3
"""Measures the cost of a request while very many others wait, in one conversation, a hundred, or ten thousand. Prints
figures without bounds.

Each backlog is a real one, in a spool of its own: texts of 100 bytes that are dropped and accepted while their conversations
are on hold. All of them exist at once and take turns, so that other load on the machine affects all alike. In each turn, the
cost of one request:

    accept      of what the backlog lacks, once the daemon is idle, from the first rename to the last commit: all of it in the
                first turn, which is called fill, and what the turn before sent in the others
    beside      of 4,000 further texts in 20 other conversations, from the first rename to the last receipt: how many of
                the receipts are written while others are published is chance
    released    of 1,000 of the backlog, once it is released and the daemon starts again: from the first that the webhook
                hears of to the thousandth; where there are more than 20,000, from the 10,000th, since a large ledger is
                looked through beside the first of them
    start       from the start of the daemon to the first message that the webhook hears of, with all of it waiting
    stop        from SIGTERM to its end, with all of it waiting
    memory      resident at most, of all daemons

Processor time is the daemon's. It is counted in ticks of 10 ms. `growth` is the cost of a request with the longest backlog divided
by that with the shortest one in the same turn. Results are medians of turns; for growth, minimum and maximum as well.
Each text takes three files and directories: a million texts need a file system with so many inodes.

    make build && .build/bench-python/bin/python Benchmarks/backlog.py [--million] [--requests N,...] [--conversations N,...]
        [--turns N]

PHOTOSPOOL names another program than .build/release/photospool.
"""

import argparse
import shutil
import socket
import sqlite3
import statistics
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path

import measure
from measure import PHOTOSPOOL
from texts import WebSink

HERE = Path(__file__).resolve().parent
BESIDE, PROBED, RELEASED = 4000, 20, 1000
BYTES = 100
# Requests after which a large ledger was looked through.
AFTER_CHECK = 10_000
PATIENCE = 3600
# The measured quantities and their units.
KINDS = {
    "fill_ms": "fill, ms", "fill_cpu_ms": "CPU ms", "accept_ms": "accept, ms", "accept_cpu_ms": "CPU ms",
    "beside_ms": "beside, ms", "beside_cpu_ms": "CPU ms", "released_ms": "released, ms", "released_cpu_ms": "CPU ms",
    "start_ms": "start, ms", "stop_ms": "stop, ms", "memory_mib": "MiB"}


def listens(control: Path) -> bool:
    """Whether a daemon does: one that has ended leaves its socket there."""
    with socket.socket(socket.AF_UNIX) as door:
        return door.connect_ex(str(control)) == 0


class Daemon:
    def __init__(self, place: Path, environment: dict[str, str]):
        self.process = subprocess.Popen(
            [PHOTOSPOOL, "run"], env=environment, stdout=subprocess.DEVNULL, stderr=open(place / "log", "ab"))

    def is_ready(self, spool: Path) -> None:
        measure.wait_until(lambda: listens(spool / "state/control"), PATIENCE)

    def processor(self) -> float:
        return measure.processor_seconds(self.process.pid)

    def most_resident(self) -> float:
        """MiB."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024

    def is_idle(self) -> bool:
        before = self.processor()
        time.sleep(0.5)
        return self.processor() == before

    def end(self) -> float:
        """Seconds until it has ended."""
        begin = time.monotonic()
        self.process.terminate()
        self.process.wait()
        return time.monotonic() - begin


class Clock:
    """Time by the clock and of a daemon's processor, shared by so many requests."""

    def __init__(self, daemon: Daemon):
        self.daemon, self.processor, self.begin = daemon, daemon.processor(), time.monotonic()

    def each(self, kind: str, requests: int) -> dict[str, float]:
        wall, processor = time.monotonic() - self.begin, self.daemon.processor() - self.processor
        return {f"{kind}_ms": wall / requests * 1000, f"{kind}_cpu_ms": processor / requests * 1000}


def in_parts(command: str, conversations: int, environment: dict[str, str]) -> None:
    """A command of the operator's, for c0, c1 and so on."""
    for first in range(0, conversations, 1000):
        names = [f"c{number}" for number in range(first, min(first + 1000, conversations))]
        subprocess.run([PHOTOSPOOL, command, *names], env=environment, check=True, stdout=subprocess.DEVNULL)


def asked(spool: Path, question: str, *values):
    """The answer of a ledger."""
    with closing(sqlite3.connect(f"file:{spool}/state/ledger.sqlite?mode=ro", uri=True)) as ledger:
        return ledger.execute(question, values).fetchone()[0]


def counted(spool: Path, name: str) -> int:
    """A total of a ledger."""
    return asked(spool, "SELECT coalesce(sum(value), 0) FROM counts WHERE name = ?", name)


def has_filed_all(spool: Path) -> bool:
    return not asked(spool, """
        SELECT EXISTS (SELECT 1 FROM requests
            WHERE filed = 0 AND state <> 'queued' AND state <> 'draft' AND state <> 'abandoned')""")


def drop(spool: Path, number: int) -> None:
    measure.drop(spool, f"beside-{number}", f"beside{number % PROBED}", "x" * BYTES)


class Backlog:
    """So many requests that wait in a spool of their own, and the webhook that hears of them."""

    def __init__(self, programs: Path, requests: int, conversations: int):
        self.requests, self.conversations, self.programs = requests, conversations, programs
        self.place = programs / str(requests)
        self.place.mkdir()
        self.spool, self.sink = self.place / "spool", WebSink(self.place, programs)
        self.environment = measure.environment_of(self.place, self.sink.port)
        self.turns: list[dict[str, float]] = []
        self.daemon: Daemon | None = None

    def hold(self) -> None:
        """Makes the spool, where nothing is sent before its backlog is released."""
        self.start()
        self.daemon.is_ready(self.spool)
        self.daemon.end()
        in_parts("hold", self.conversations, self.environment)

    def start(self) -> None:
        self.daemon = Daemon(self.place, self.environment)

    def turn(self) -> None:
        number, figures = len(self.turns), {}
        self.start()
        self.daemon.is_ready(self.spool)
        # A large ledger is looked through beside the work after a start.
        measure.wait_until(self.daemon.is_idle, PATIENCE)
        lacking = self.requests - asked(self.spool, "SELECT coalesce(sum(waiting), 0) FROM conversations")
        due, clock = counted(self.spool, "requests.queued") + lacking, Clock(self.daemon)
        subprocess.run([self.programs / "drop", self.spool, f"r{number}", str(lacking), str(BYTES), str(self.conversations)],
                       check=True)
        measure.wait_until(lambda: counted(self.spool, "requests.queued") >= due, PATIENCE)
        figures |= clock.each("accept" if number else "fill", lacking)

        due, clock = counted(self.spool, "requests.sent") + BESIDE, Clock(self.daemon)
        for beside in range(BESIDE):
            drop(self.spool, number * BESIDE + beside)
        measure.wait_until(lambda: counted(self.spool, "requests.sent") >= due and has_filed_all(self.spool), PATIENCE)
        figures |= clock.each("beside", BESIDE) | {"memory_mib": self.daemon.most_resident()}
        figures["stop_ms"] = self.daemon.end() * 1000

        in_parts("release", self.conversations, self.environment)
        before, begin = self.sink.taken(), time.monotonic()
        self.start()
        measure.wait_until(lambda: self.sink.taken() > before, PATIENCE, pause=0.0005)
        figures["start_ms"] = (time.monotonic() - begin) * 1000
        first = AFTER_CHECK if self.requests > 2 * AFTER_CHECK else 0
        measure.wait_until(lambda: self.sink.taken() > before + first, PATIENCE, pause=0.0005)
        done, clock = self.sink.taken() - before, Clock(self.daemon)
        due = first + min(RELEASED, self.requests)
        measure.wait_until(lambda: self.sink.taken() >= before + due, PATIENCE, pause=0.0005)
        figures |= clock.each("released", max(due - done, 1))
        figures["memory_mib"] = max(figures["memory_mib"], self.daemon.most_resident())
        self.daemon.end()
        in_parts("hold", self.conversations, self.environment)
        self.turns.append(figures)

    def end(self) -> None:
        if self.daemon:
            self.daemon.process.kill()
            self.daemon.process.wait()
        self.sink.end()


def of_turns(turns: list[dict[str, float]], kind: str) -> list[float]:
    return [turn[kind] for turn in turns if kind in turn]


def run(programs: Path, sizes: list[int], conversations: int, turns: int) -> list[Backlog]:
    """The backlogs, ended, after so many turns."""
    backlogs: list[Backlog] = []
    try:
        for size in sizes:
            backlogs.append(Backlog(programs, size, conversations))
            backlogs[-1].hold()
        for number in range(turns):
            for backlog in backlogs if number % 2 == 0 else reversed(backlogs):
                backlog.turn()
        return backlogs
    finally:
        for backlog in backlogs:
            backlog.end()


def growth_of(shortest: Backlog, longest: Backlog) -> dict[str, list[float]]:
    """The growth of each turn."""
    return {kind: [its / max(own, 0.01) for own, its in zip(of_turns(shortest.turns, kind), of_turns(longest.turns, kind))]
            for kind in KINDS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", default="1000,10000,100000", help="how long the backlogs are (1000,10000,100000)")
    parser.add_argument("--conversations", default="1,100,10000", help="how many they are in (1,100,10000)")
    parser.add_argument("--million", action="store_true", help="also a backlog of 1,000,000")
    parser.add_argument("--turns", type=int, default=3, help="how often each is measured, at least 2 (3)")
    options = parser.parse_args()
    sizes = [int(size) for size in options.requests.split(",")] + ([1_000_000] if options.million else [])
    spreads = [int(spread) for spread in options.conversations.split(",")]
    print(f"a request, while so many wait; {measure.machine()}\n\n| waiting | in conversations | "
          + " | ".join(KINDS.values()) + " |\n| ---: | ---: |" + " ---: |" * len(KINDS))
    measured, growth = [], {}
    for conversations in spreads:
        scratch = Path(tempfile.mkdtemp(prefix="photospool-backlog."))
        try:
            for program in ("sink", "drop"):
                subprocess.run(["cc", "-O2", "-o", scratch / program, HERE / f"{program}.c"], check=True)
            backlogs = run(scratch, sizes, conversations, max(options.turns, 2))
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        for one in backlogs:
            figures = {kind: statistics.median(of_turns(one.turns, kind)) for kind in KINDS}
            measured.append({"requests": one.requests, "conversations": conversations, "turns": one.turns} | figures)
            print(f"| {one.requests:,} | {conversations:,} | " + " | ".join(
                f"{figures[kind]:,.{0 if figures[kind] >= 100 else 2}f}" for kind in KINDS) + " |", flush=True)
        growth[conversations] = growth_of(backlogs[0], backlogs[-1])
        print(f"| growth | {conversations:,} | " + " | ".join(
            measure.spread(ratios) for ratios in growth[conversations].values()) + " |", flush=True)
    measure.keep("backlog", {"measured": measured, "growth": growth})
    measure.plot("backlog", "Processor time of a request while others wait, by what waits / conversations", "ms", {
        name: {f"{one['requests']:,} / {one['conversations']:,}": one[f"{name}_cpu_ms"] for one in measured}
        for name in ("accept", "beside", "released")})


if __name__ == "__main__":
    main()
