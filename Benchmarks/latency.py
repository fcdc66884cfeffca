#!/usr/bin/env python3
"""How long it takes from the rename into new/ until the network is called: with nothing else to do, while a backlog of
another conversation arrives, and while one that was accepted is published. Prints figures without bounds.

The network is a webhook that writes down when each message reached it; the calls that publish are made before.

    make build && .build/bench-python/bin/python Benchmarks/latency.py [--requests N] [--backlog N]

PHOTOSPOOL names another program than .build/release/photospool.
"""

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import measure
from mailers import free_port
from measure import PHOTOSPOOL


class Webhook(asyncio.Protocol):
    """Answers at once, and remembers when each text came."""

    came: dict[str, float] = {}

    def connection_made(self, transport):
        self.transport, self.held = transport, b""

    def data_received(self, data):
        now = time.monotonic()
        self.held += data
        while (end := self.held.find(b"\r\n\r\n")) >= 0:
            lines = self.held[:end].lower().split(b"\r\n")
            length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), 0)
            if len(self.held) < end + 4 + length:
                return
            body, self.held = self.held[end + 4:end + 4 + length], self.held[end + 4 + length:]
            self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            text = json.loads(body).get("data", {}).get("text")
            if text:
                self.came[text] = now


def serve(port: int) -> None:
    async def run():
        server = await asyncio.get_running_loop().create_server(Webhook, "127.0.0.1", port)
        await server.serve_forever()
    threading.Thread(target=lambda: asyncio.run(run()), daemon=True).start()


def probes(spool: Path, name: str, count: int, pause: float) -> list[float]:
    """Milliseconds that each of `count` requests took, `pause` seconds apart."""
    dropped = {}
    for number in range(count):
        text = f"{name}-{number}"
        dropped[text] = measure.drop(spool, text, f"probe{number % 4}", text)
        time.sleep(pause)
    measure.wait_until(lambda: all(text in Webhook.came for text in dropped), 300)
    return [(Webhook.came[text] - begin) * 1000 for text, begin in dropped.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=500)
    parser.add_argument("--backlog", type=int, default=10_000)
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="photospool-latency."))
    spool, port, daemon = scratch / "spool", free_port(), None
    serve(port)
    environment = measure.environment_of(scratch, port)
    try:
        with open(scratch / "log", "wb") as log:
            daemon = subprocess.Popen([PHOTOSPOOL, "run"], env=environment, stdout=subprocess.DEVNULL, stderr=log)
        measure.wait_until(lambda: (spool / "state/control").exists(), 30)
        figures = {"idle": probes(spool, "idle", options.requests, 0.02)}
        for number in range(options.backlog):
            measure.drop(spool, f"a-{number}", "arriving", f"a-{number}")
        figures["a backlog arrives"] = probes(spool, "meanwhile", options.requests, 0.02)
        measure.wait_until(lambda: sum(text.startswith("a-") for text in list(Webhook.came)) == options.backlog, 600)
        subprocess.run([PHOTOSPOOL, "hold", "backlog"], env=environment, check=True, stdout=subprocess.DEVNULL)
        for number in range(options.backlog):
            measure.drop(spool, f"b-{number}", "backlog", f"b-{number}")
        measure.wait_until(lambda: not any(os.scandir(spool / "new")), 600)
        subprocess.run([PHOTOSPOOL, "release", "backlog"], env=environment, check=True, stdout=subprocess.DEVNULL)
        figures["beside a backlog"] = probes(spool, "beside", options.requests, 0.02)
        left = options.backlog - sum(text.startswith("b-") for text in list(Webhook.came))
    finally:
        measure.end(daemon)
        shutil.rmtree(scratch, ignore_errors=True)
    print(f"milliseconds from the rename to the webhook; {left} of the backlog of {options.backlog} were left at the end; "
          f"{measure.machine()}\n")
    bars = measure.percentiles(figures)
    measure.keep("latency", {"backlog": options.backlog, "milliseconds": figures})
    measure.plot("latency", "From the rename to the webhook", "ms", bars)


if __name__ == "__main__":
    main()
