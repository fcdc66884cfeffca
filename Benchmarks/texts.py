#!/usr/bin/env python3
"""Text requests, dropped by four writers and delivered to a sink, beside common mail queues: Postfix as it comes, with a
session for each text and with one for each writer, Postfix tuned, and nullmailer. Prints figures without bounds.

    delivered   from the first request to the last one that its sink has taken; for photospool also to the last receipt
    accepted    from the first to the last that is on the disk and in the queue, while nothing is delivered

The floor is the minimum of that work, in C (floor.c); it delivers only, and has one process for each processor.

photospool gets directories that are renamed into new/, and delivers by a webhook; the others get and deliver SMTP
(smtp-source, smtp-sink). Each queue has what it accepted on the disk before it says so: photospool by its ledger, the others
by a file for each message. All log as they come. nullmailer gets a twentieth of the texts. They take turns, so that
other load on the machine affects all alike.

photospool's senders make files and wait for nobody, so that many requests are there to be taken at once; SMTP's senders
wait until each message is on the disk, and hear of it. The senders' own cost is counted separately.

    make build && .build/bench-python/bin/python Benchmarks/texts.py [--requests N] [--turns N]

PHOTOSPOOL names another program than .build/release/photospool.
"""

import argparse
import mmap
import os
import resource
import shutil
import sqlite3
import statistics
import struct
import subprocess
import tempfile
import time
from pathlib import Path

import measure
from mailers import Nullmailer, Postfix, SMTPSink, free_port, listens
from measure import PHOTOSPOOL

HERE = Path(__file__).resolve().parent
BYTES, WRITERS, CONVERSATIONS = 1024, 4, 20
PATIENCE = 600
REST = 2


class WebSink:
    def __init__(self, place: Path, programs: Path):
        self.port = free_port()
        self.process = subprocess.Popen([programs / "sink", str(self.port), place / "taken"])
        measure.wait_until(lambda: listens(self.port), 10)
        self.map = mmap.mmap(os.open(place / "taken", os.O_RDONLY), 8, access=mmap.ACCESS_READ)

    def taken(self) -> int:
        return struct.unpack("Q", self.map[:8])[0]

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


class Spool:
    """A spool that the senders drop into."""

    spool: Path
    programs: Path
    process: subprocess.Popen

    def feed(self, messages: int, bytes: int, writers: int) -> None:
        drops = [
            subprocess.Popen([self.programs / "drop", self.spool, f"w{writer}", str(messages // writers), str(bytes),
                              str(CONVERSATIONS)])
            for writer in range(writers)]
        for drop in drops:
            if drop.wait():
                raise SystemExit("the requests could not be dropped")

    def processor(self) -> float:
        return measure.processor_seconds(self.process.pid)

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()


class Floor(Spool):
    def __init__(self, place: Path, programs: Path, sink: int):
        self.spool, self.programs = place / "spool", programs
        for name in ("tmp", "new", "cur", "sent"):
            (self.spool / name).mkdir(parents=True)
        self.process = subprocess.Popen([programs / "floor", self.spool, str(sink), str(os.cpu_count())])


class Photospool(Spool):
    def __init__(self, place: Path, programs: Path, sink: int, holds: bool = False):
        self.spool, self.programs = place / "spool", programs
        environment = measure.environment_of(place, sink, more="")
        self.process = subprocess.Popen(
            [PHOTOSPOOL, "run"], env=environment, stdout=subprocess.DEVNULL, stderr=open(place / "log", "wb"))
        measure.wait_until(lambda: (self.spool / "state/control").exists(), 30)
        if holds:
            subprocess.run([PHOTOSPOOL, "hold", *(f"c{number}" for number in range(CONVERSATIONS))],
                           env=environment, check=True, stdout=subprocess.DEVNULL)
        self.ledger = sqlite3.connect(f"file:{self.spool}/state/ledger.sqlite?mode=ro", uri=True)

    def has_filed(self, requests: int) -> bool:
        return self.ledger.execute("SELECT count(*) FROM requests WHERE filed = 1").fetchone()[0] >= requests

    def accepted(self) -> int:
        return self.ledger.execute("SELECT coalesce(sum(value), 0) FROM counts WHERE name = 'requests.queued'").fetchone()[0]


def timed(queue, requests: int, is_done, is_over=None) -> dict[str, float]:
    before, senders, begin = queue.processor(), of_children(), time.monotonic()
    queue.feed(requests, BYTES, WRITERS)
    measure.wait_until(is_done, PATIENCE)
    seconds = time.monotonic() - begin
    over = {}
    if is_over:
        measure.wait_until(is_over, PATIENCE, pause=0.02)
        over["receipts"] = requests / (time.monotonic() - begin)
    # The remaining work for the last ones is part of their cost.
    time.sleep(REST)
    return {
        **over, "rate": requests / seconds, "cpu_ms": (queue.processor() - before) / requests * 1000,
        "senders_ms": (of_children() - senders) / requests * 1000}


def of_children() -> float:
    """Seconds of the processor that went to children which were waited for: the senders, while a queue is fed."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def postfix(name: str, place: Path, sink: int, holds: bool = False) -> Postfix:
    return Postfix(place, sink, is_tuned="tuned" in name, keeps_sessions="session" in name, holds=holds)


def delivered(name: str, place: Path, programs: Path, requests: int) -> dict[str, float]:
    if name in ("photospool", "floor"):
        sink = WebSink(place, programs)
        queue = (Photospool if name == "photospool" else Floor)(place, programs, sink.port)
        is_done = lambda: sink.taken() >= requests
    else:
        sink = SMTPSink(requests)
        queue = Nullmailer(place, sink.port) if name == "nullmailer" else postfix(name, place, sink.port)
        is_done = sink.is_done
    is_over = (lambda: queue.has_filed(requests)) if name == "photospool" else None
    try:
        return timed(queue, requests, is_done, is_over)
    finally:
        queue.end()
        sink.end()


def accepted(name: str, place: Path, programs: Path, requests: int) -> dict[str, float]:
    closed = free_port()
    if name == "photospool":
        queue = Photospool(place, programs, closed, holds=True)
        is_done = lambda: queue.accepted() >= requests
    else:
        queue, is_done = postfix(name, place, closed, holds=True), lambda: True
    try:
        return timed(queue, requests, is_done)
    finally:
        queue.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    requests = options.requests // WRITERS * WRITERS
    print(f"{requests} texts of {BYTES} bytes, {WRITERS} writers; {measure.machine()}")
    scratch = Path(tempfile.mkdtemp(prefix="photospool-texts."))
    scratch.chmod(0o755)
    figures = {}
    try:
        for program in ("sink", "drop", "floor"):
            subprocess.run(["cc", "-O2", "-o", scratch / program, HERE / f"{program}.c"], check=True)
        queues = ["photospool", "postfix", "postfix, four sessions", "postfix tuned, four sessions"]
        peers = {"delivered": (delivered, [*queues, "nullmailer", "floor"]), "accepted": (accepted, queues)}
        for kind, (run, names) in peers.items():
            turns = {name: [] for name in names}
            for turn in range(options.turns):
                for name in names:
                    place = scratch / f"{kind}-{name.replace(',', '').replace(' ', '-')}-{turn}"
                    place.mkdir()
                    # A program for each message, which delivers one after the other, would take all day.
                    count = requests // 20 // WRITERS * WRITERS if name == "nullmailer" else requests
                    turns[name].append(run(name, place, programs=scratch, requests=count))
                    shutil.rmtree(place)
            print(f"\n| {kind} | a second | CPU ms each | of its senders | photospool's rate to it |\n| --- |{' ---: |' * 4}")
            own = [turn["rate"] for turn in turns["photospool"]]
            for name, results in turns.items():
                rates = [turn["rate"] for turn in results]
                ratios = [mine / its for mine, its in zip(own, rates)]
                figures.setdefault(kind, {})[name] = {
                    "rates": rates, "ratios": ratios,
                    **{figure: [turn[figure] for turn in results] for figure in ("cpu_ms", "senders_ms")}}
                print(f"| {name} | {measure.spread(rates, 0)} | {measure.spread([turn['cpu_ms'] for turn in results])} | "
                      f"{measure.spread([turn['senders_ms'] for turn in results])} | "
                      + ("-" if name == "photospool" else measure.spread(ratios)) + " |")
            receipts = [turn["receipts"] for turn in turns["photospool"] if "receipts" in turn]
            if receipts:
                figures[kind]["photospool"]["receipts"] = receipts
                print(f"\nphotospool's receipts were there, too: {measure.spread(receipts, 0)} a second")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    measure.keep("texts", figures)
    measure.plot("texts", "Texts of 1 kB", "a second", {
        kind: {name: statistics.median(values["rates"]) for name, values in names.items()}
        for kind, names in figures.items()}, logarithmic=True)


if __name__ == "__main__":
    main()
