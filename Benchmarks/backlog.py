#!/usr/bin/env python3
"""What a request costs while very many others wait, in one conversation, a hundred, or ten thousand. Prints figures and
holds nothing to them.

Each backlog is a real one: texts of 100 bytes that are dropped and accepted while their conversations are on hold. Then, a
request each:

    accept      of the backlog itself, from the first rename to the last commit
    beside      of 4,000 further texts in 20 other conversations, from the first rename to the webhook's last
    released    of 1,000 of the backlog, once it is released and the daemon starts again: from the first that the webhook
                hears of to the thousandth; where there are more than 20,000, from the 10,000th, since a large ledger is
                looked through beside the first of them
    start       from the start of the daemon to the first message that the webhook hears of, with all of it waiting
    stop        from SIGTERM to its end, with all of it waiting
    memory      resident at most, of the daemon that accepted and of the one that started again

Processor time is the daemon's. It is counted in ticks of 10 ms. `growth` is what a request costs with the longest backlog to
what it costs with the shortest one.

    make build && .build/bench-python/bin/python Benchmarks/backlog.py [--million] [--requests N,...] [--conversations N,...]

PHOTOSPOOL names another program than .build/release/photospool.
"""

import argparse
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

import measure
from texts import PHOTOSPOOL, WebSink

HERE = Path(__file__).resolve().parent
BESIDE, PROBED, RELEASED = 4000, 20, 1000
BYTES = 100
# Requests after which a large ledger was looked through.
AFTER_CHECK = 10_000
PATIENCE = 3600
# What is measured, and its unit.
KINDS = {
    "accept_ms": "accept, ms", "accept_cpu_ms": "CPU ms", "beside_ms": "beside, ms", "beside_cpu_ms": "CPU ms",
    "released_ms": "released, ms", "released_cpu_ms": "CPU ms", "start_ms": "start, ms", "stop_ms": "stop, ms", "memory_mib": "MiB"}


class Daemon:
    def __init__(self, place: Path, environment: dict[str, str]):
        self.process = subprocess.Popen(
            [PHOTOSPOOL, "run"], env=environment, stdout=subprocess.DEVNULL, stderr=open(place / "log", "ab"))

    def is_ready(self, spool: Path) -> None:
        measure.wait_until(lambda: (spool / "state/control").exists(), PATIENCE)

    def processor(self) -> float:
        return measure.processor_seconds(self.process.pid)

    def most_resident(self) -> float:
        """MiB."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024

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


def drop(spool: Path, number: int) -> None:
    request = spool / f"tmp/beside-{number}"
    request.mkdir()
    (request / "to").write_text(f"beside{number % PROBED}")
    (request / "text").write_text("x" * BYTES)
    request.rename(spool / f"new/beside-{number}")


def environment_of(place: Path, sink: WebSink) -> dict[str, str]:
    """That of a daemon whose spool is in a place, and whose texts go to a sink."""
    (place / "photospool.yaml").write_text(
        f"network: {{type: webhook, url: 'http://127.0.0.1:{sink.port}/', allowPrivate: true, secretVariable: SECRET}}\n"
        "log: {level: warning}\n")
    return os.environ | {
        "PHOTOSPOOL_SPOOL": str(place / "spool"), "PHOTOSPOOL_CONFIG": str(place / "photospool.yaml"),
        "SECRET": "whsec_" + "c2VjcmV0" * 4}


def in_parts(command: str, conversations: int, environment: dict[str, str]) -> None:
    """A command of the operator's, for c0, c1 and so on."""
    for first in range(0, conversations, 1000):
        names = [f"c{number}" for number in range(first, min(first + 1000, conversations))]
        subprocess.run([PHOTOSPOOL, command, *names], env=environment, check=True, stdout=subprocess.DEVNULL)


def run(place: Path, programs: Path, requests: int, conversations: int) -> dict[str, float]:
    sink, spool = WebSink(place, programs), place / "spool"
    environment = environment_of(place, sink)
    daemon = Daemon(place, environment)
    try:
        daemon.is_ready(spool)
        in_parts("hold", conversations, environment)
        ledger = sqlite3.connect(f"file:{spool}/state/ledger.sqlite?mode=ro", uri=True)
        accepted = lambda: ledger.execute("SELECT value FROM counts WHERE name = 'requests.queued'").fetchone()[0]

        clock = Clock(daemon)
        subprocess.run([programs / "drop", spool, "r", str(requests), str(BYTES), str(conversations)], check=True)
        measure.wait_until(lambda: accepted() >= requests, PATIENCE)
        figures = clock.each("accept", requests)

        clock = Clock(daemon)
        for number in range(BESIDE):
            drop(spool, number)
        measure.wait_until(lambda: sink.taken() >= BESIDE, PATIENCE)
        figures |= clock.each("beside", BESIDE)
        ledger.close()
        memory = daemon.most_resident()
        figures["stop_ms"] = daemon.end() * 1000

        in_parts("release", conversations, environment)
        begin, count = time.monotonic(), min(RELEASED, requests)
        daemon = Daemon(place, environment)
        measure.wait_until(lambda: sink.taken() > BESIDE, PATIENCE, pause=0.0005)
        figures["start_ms"] = (time.monotonic() - begin) * 1000
        if requests > 2 * AFTER_CHECK:
            measure.wait_until(lambda: sink.taken() > BESIDE + AFTER_CHECK, PATIENCE, pause=0.0005)
            count += AFTER_CHECK
        clock, done = Clock(daemon), sink.taken() - BESIDE
        measure.wait_until(lambda: sink.taken() >= BESIDE + count, PATIENCE, pause=0.0005)
        figures |= clock.each("released", max(count - done, 1))
        figures["memory_mib"] = max(memory, daemon.most_resident())
        return figures
    finally:
        daemon.process.kill()
        daemon.process.wait()
        sink.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", default="1000,10000,100000", help="how long the backlogs are (1000,10000,100000)")
    parser.add_argument("--conversations", default="1,100,10000", help="how many they are in (1,100,10000)")
    parser.add_argument("--million", action="store_true", help="also a backlog of 1,000,000")
    options = parser.parse_args()
    sizes = [int(size) for size in options.requests.split(",")] + ([1_000_000] if options.million else [])
    spreads = [int(spread) for spread in options.conversations.split(",")]
    print(f"a request, while so many wait; {measure.machine()}\n\n| waiting | in conversations | "
          + " | ".join(KINDS.values()) + " |\n| ---: | ---: |" + " ---: |" * len(KINDS))
    measured = []
    for size in sizes:
        for conversations in spreads:
            scratch = Path(tempfile.mkdtemp(prefix="photospool-backlog."))
            try:
                for program in ("sink", "drop"):
                    subprocess.run(["cc", "-O2", "-o", scratch / program, HERE / f"{program}.c"], check=True)
                figures = run(scratch, scratch, size, conversations)
                measured.append({"requests": size, "conversations": conversations} | figures)
                print(f"| {size:,} | {conversations:,} | " + " | ".join(
                    f"{figures[kind]:,.{0 if figures[kind] >= 100 else 2}f}" for kind in KINDS) + " |", flush=True)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
    at = {(one["requests"], one["conversations"]): one for one in measured}
    growth = {conversations: {kind: at[sizes[-1], conversations][kind] / max(at[sizes[0], conversations][kind], 0.01)
                              for kind in KINDS} for conversations in spreads}
    for conversations, ratios in growth.items():
        print(f"| growth | {conversations:,} | " + " | ".join(f"{ratios[kind]:.2f}" for kind in KINDS) + " |")
    measure.keep("backlog", {"measured": measured, "growth": growth})
    measure.plot("backlog", "Processor time of a request while others wait, by what waits / conversations", "ms", {
        name: {f"{one['requests']:,} / {one['conversations']:,}": one[f"{name}_cpu_ms"] for one in measured}
        for name in ("accept", "beside", "released")})


if __name__ == "__main__":
    main()
