#!/usr/bin/env python3
"""How long nine good conversations wait from a drop to its publication, beside one that always fails and without it.
Prints figures without bounds.

One daemon, with its embedded store and network for the good ones. Each good conversation gets requests of one text and
one small photo, evenly in time, and the bad one gets as many, in phases that take turns: without it, then with it
failing in one way, again and again. So other load on the machine affects both alike. The ways to fail:

    refuses     its network answers every message with 400: each request fails at once
    errs        its network answers with 500: tried again, ever later
    breaks      its network closes every connection without a word
    silent      its network takes what it is sent and never answers
    storeless   its store is not there: nobody listens
    stuck       its store takes photos and never answers

Latency is from the moment of the rename into new/ to `publishedAt` of the last message, in milliseconds; the ratio is that
of the phases with to those without.

    make build && .build/python/bin/python Benchmarks/fairness.py [--requests N] [--rate N] [--turns N] [--ways WAY,...] [--markdown]

PHOTOSPOOL names another program than .build/release/photospool.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

from measure import PHOTOSPOOL, ROOT, keep, percentile, plot, table

GOOD = [f"good{number}" for number in range(9)]
WAYS = {
    "refuses": ("status/400", None), "errs": ("status/500", None), "breaks": ("close", None), "silent": ("stall", None),
    "storeless": ("echo", ""), "stuck": ("echo", "stall"),
}


def configuration(server: str, closed: int) -> str:
    """A network for each way to fail, and a route to it for the conversation of its name."""
    lines = ["stores:"]
    for way, (_, store) in WAYS.items():
        if store is not None:
            endpoint = f"{server}/{store}" if store else f"http://127.0.0.1:{closed}"
            lines += [f"  {way}:", "    type: s3", f"    endpoint: {endpoint}", "    bucket: photos",
                      "    accessKeyVariable: FAIRNESS_KEY", "    secretKeyVariable: FAIRNESS_KEY"]
    lines += ["networks:"]
    for way, (answer, store) in WAYS.items():
        lines += [f"  {way}:", "    type: webhook", f"    url: {server}/{answer}", "    allowPrivate: true",
                  "    secretVariable: FAIRNESS_SECRET"] + ([f"    store: {way}"] if store is not None else [])
    lines += ["routes:"]
    for way in WAYS:
        lines += [f"  - conversation: {way}", f"    network: {way}"]
    return "\n".join(lines) + "\n"


class Phase:
    """Requests that were dropped together, and how long the good ones took."""

    def __init__(self, spool: Path, photo: bytes, name: str, bad: str | None, requests: int, rate: float):
        self.spool, self.dropped = spool, {}
        begin = time.monotonic()
        for number in range(requests):
            for place, conversation in enumerate(GOOD + ([bad] if bad else [])):
                time.sleep(max(0, begin + (number + place / 10) / rate - time.monotonic()))
                request = f"{name}-{number}-{conversation}"
                self.drop(request, conversation, photo)

    def drop(self, request: str, conversation: str, photo: bytes) -> None:
        folder = self.spool / "tmp" / request
        folder.mkdir()
        (folder / "to").write_text(conversation)
        (folder / "text").write_text(f"text of {request}")
        (folder / "photo.jpg").write_bytes(photo)
        if conversation in GOOD:
            self.dropped[request] = time.time()
        folder.rename(self.spool / "new" / request)

    def latencies(self) -> list[float]:
        """Waits until all good ones are out. Milliseconds, ascending."""
        deadline = time.monotonic() + 120
        while True:
            published = {}
            for conversation in GOOD:
                file = self.spool / "published" / f"{conversation}.jsonl"
                for line in file.read_text().splitlines() if file.exists() else []:
                    message = json.loads(line)
                    # The text is the last message of a request.
                    if message["kind"] == "text" and message["request"] in self.dropped:
                        published[message["request"]] = datetime.fromisoformat(message["publishedAt"]).timestamp()
            if len(published) == len(self.dropped):
                return sorted((published[request] - at) * 1000 for request, at in self.dropped.items())
            if time.monotonic() > deadline:
                sys.exit(f"{len(self.dropped) - len(published)} good requests are not out after two minutes")
            time.sleep(0.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--requests", type=int, default=5, help="of each conversation in each phase (5)")
    parser.add_argument("--rate", type=float, default=2.5, help="of each conversation, requests a second (2.5)")
    parser.add_argument("--turns", type=int, default=5, help="phases of each kind for each way to fail (5)")
    parser.add_argument("--ways", default=",".join(WAYS), help="only these ways to fail, separated by commas")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    options = parser.parse_args()
    if not os.access(PHOTOSPOOL, os.X_OK):
        sys.exit(f"{PHOTOSPOOL} is missing: build it with `make build`")
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        subprocess.run(["convert", "-size", "320x240", "plasma:fractal", scratch / "photo.jpg"], check=True)
        photo = (scratch / "photo.jpg").read_bytes()
        server = subprocess.Popen(
            [os.environ.get("PHOTOSPOOL_PYTHON", sys.executable), ROOT / "Tests/Support/python/fault_server.py",
             scratch / "server"], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        stack.callback(server.wait)
        stack.callback(server.stdin.close)
        endpoint = json.loads(server.stdout.readline())["endpoint"]
        # Bound and not listening, so that nobody else can come to listen there.
        closed = stack.enter_context(socket.socket())
        closed.bind(("127.0.0.1", 0))
        (scratch / "photospool.yaml").write_text(configuration(endpoint, closed.getsockname()[1]))
        spool = scratch / "spool"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PHOTOSPOOL_")}
        with open(scratch / "log", "w+") as log:
            daemon = subprocess.Popen(
                [PHOTOSPOOL, "run", "--config", scratch / "photospool.yaml", "--spool", spool], stderr=log,
                env=environment | {"FAIRNESS_KEY": "key", "FAIRNESS_SECRET": "whsec_" + "QUFB" * 8})
            stack.callback(daemon.wait)
            stack.callback(daemon.kill)
            while "event=ready" not in (scratch / "log").read_text():
                if daemon.poll() is not None:
                    sys.exit((scratch / "log").read_text())
                time.sleep(0.05)
            Phase(spool, photo, "warm", None, 3, options.rate).latencies()
            rows, kept = [], []
            for way in options.ways.split(","):
                without, beside = [], []
                for turn in range(options.turns):
                    for bad, into in [(None, without), (way, beside)]:
                        into += Phase(
                            spool, photo, f"{way}-{turn}-{bad is None}", bad, options.requests, options.rate).latencies()
                figures = [percentile(of, share) for of in (without, beside) for share in (0.5, 0.99)]
                kept.append({"the bad one": way} | dict(zip(
                    ("p50 without", "p99 without", "p50 beside", "p99 beside"), figures)))
                rows.append([way, *(f"{figure:.0f}" for figure in figures),
                             *(f"{figures[i + 2] / figures[i]:.2f}" for i in (0, 1))])
        print(f"9 good conversations, {options.rate:g} requests a second each, {options.requests * options.turns * 9} requests "
              f"with and as many without the bad one, load {os.getloadavg()[0]:.1f}; milliseconds from drop to publication.\n")
        table(["the bad one", "p50 without", "p99 without", "p50 beside", "p99 beside", "p50 ratio", "p99 ratio"], rows,
              options.markdown)
    keep("fairness", {"milliseconds": kept})
    plot("fairness", "From drop to publication, 99th percentile", "milliseconds", {
        way: {row[0]: figures[f"p99 {way}"] for row, figures in zip(rows, kept)} for way in ("without", "beside")})


if __name__ == "__main__":
    main()
