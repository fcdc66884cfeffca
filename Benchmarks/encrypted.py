#!/usr/bin/env python3
"""An encrypted Matrix room beside one without encryption, on the same Synapse: sending photos with captions, and listening to
photos of a chat app (matrix-nio). Both take turns, so that other load on the machine affects both alike. Prints the
times, their ratio, and the memory of the daemon at the end.

    sent        from the first request to the last receipt
    received    from the start of a daemon to the last photo that was waiting for it

    make build && .build/python/bin/python Benchmarks/encrypted.py [--requests N] [--turns N]

PHOTOSPOOL names another program than .build/release/photospool.
"""

import argparse
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

from PIL import Image

import measure
from measure import PHOTOSPOOL, SCRIPTS

KINDS = ["plain", "encrypted"]
PATIENCE = 300


def launch(name: str, *arguments: str) -> measure.Script:
    return measure.Script(SCRIPTS / name, *arguments, stderr=subprocess.DEVNULL)


class Homeserver:
    def __init__(self, place: Path):
        (place / "synapse").mkdir()
        self.script = launch("synapse.py", str(place / "synapse"))
        self.facts = self.script.answer()
        self.endpoint = self.facts["endpoint"]

    def call(self, user: str, method: str, path: str, body: dict) -> dict:
        request = urllib.request.Request(
            f"{self.endpoint}/_matrix/client/v3/{path}", json.dumps(body).encode(),
            {"Authorization": f"Bearer {self.facts[user]}"}, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def room(self, user: str, other: str, is_encrypted: bool) -> str:
        room = self.script.ask("room", user, other)["room"]
        if is_encrypted:
            self.call(user, "PUT", f"rooms/{urllib.parse.quote(room, safe='')}/state/m.room.encryption",
                      {"algorithm": "m.megolm.v1.aes-sha2"})
        return room


class Daemon:
    """A daemon of one user for one room."""

    def __init__(self, place: Path, server: Homeserver, user: str, room: str, listens: bool):
        self.place, self.spool, self.process = place, place / "spool", None
        place.mkdir()
        (place / "token").write_text(server.facts[user])
        (place / "token").chmod(0o600)
        matrix = {"type": "matrix", "homeserver": server.endpoint, "tokenFile": str(place / "token")}
        (place / "photospool.yaml").write_text(json.dumps({
            "store": matrix, "network": {**matrix, "listen": listens}, "seal": "matrix", "receiving": {"fetch": "ask"},
            "routes": [{"conversation": "family", "network": "matrix", "as": room}]}))
        self.environment = os.environ | {
            "PHOTOSPOOL_SPOOL": str(self.spool), "PHOTOSPOOL_CONFIG": str(place / "photospool.yaml"), "HOME": str(place),
            "XDG_CONFIG_HOME": str(place)}

    def start(self) -> None:
        self.log = self.place / "log"
        with open(self.log, "w") as log:
            self.process = subprocess.Popen([PHOTOSPOOL, "run"], env=self.environment, stdout=log, stderr=log)

    def says(self, words: str) -> int:
        return self.log.read_text().count(words)

    def stop(self) -> float:
        """Returns the memory before."""
        mib = measure.resident_mib(self.process.pid)
        self.process.terminate()
        self.process.wait()
        return mib

    def kill(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()

    def drop(self, name: str, photo: Path) -> None:
        measure.drop(self.spool, name, "family", name, photo)

    def sent(self) -> int:
        return sum(not name.startswith(".") for name in os.listdir(self.spool / "sent"))

    def received(self) -> int:
        with sqlite3.connect(f"file:{self.spool}/state/ledger.sqlite?mode=ro", uri=True) as ledger:
            return ledger.execute("SELECT count(*) FROM received").fetchone()[0]


def send(daemon: Daemon, turn: int, count: int, photo: Path) -> tuple[float, float]:
    daemon.start()
    measure.wait_until(lambda: daemon.says("event=ready"), PATIENCE)
    before = daemon.sent()
    begin = time.monotonic()
    for number in range(count):
        daemon.drop(f"t{turn}-{number}", photo)
    measure.wait_until(lambda: daemon.sent() == before + count, PATIENCE)
    return time.monotonic() - begin, daemon.stop()


def listen(daemon: Daemon, client: measure.Script, count: int, photo: Path) -> tuple[float, float]:
    before = daemon.received()
    for _ in range(count):
        client.ask("photo", str(photo))
    begin = time.monotonic()
    daemon.start()
    measure.wait_until(lambda: daemon.received() == before + count, PATIENCE)
    return time.monotonic() - begin, daemon.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=50)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="photospool-bench."))
    photo = place / "photo.jpg"
    Image.effect_noise((640, 480), 60).convert("RGB").save(photo, quality=90)
    server = Homeserver(place)
    scripts = [server.script]
    reader = launch("encrypted_reader.py", "mautrix", server.endpoint, "bob")
    reader.ask("start")
    scripts.append(reader)
    senders, listeners, clients = {}, {}, {}
    for kind in KINDS:
        room = server.room("alice", "bob", kind == "encrypted")
        senders[kind] = Daemon(place / f"sender-{kind}", server, "alice", room, listens=False)
        # One who is in no other room hears no other one.
        listener = "dave" if kind == "encrypted" else "carol"
        room = server.room("alice", listener, kind == "encrypted")
        listeners[kind] = Daemon(place / f"listener-{kind}", server, listener, room, listens=True)
        token = server.script.ask("login", "alice", f"APP{kind}")["token"]
        listeners[kind].start()
        measure.wait_until(lambda: listeners[kind].says("event=listening"), PATIENCE)
        if kind == "encrypted":
            keys = listeners[kind].spool / "state/matrix/matrix/keys.sqlite"
            measure.wait_until(lambda: keys.exists() and sqlite3.connect(keys).execute(
                "SELECT count(*) FROM offered WHERE isPublished").fetchone()[0] > 50, PATIENCE)
        listeners[kind].stop()
        clients[kind] = launch("encrypted_client.py", server.endpoint, "@alice:localhost", token, f"APP{kind}", room,
                               str(place / f"app-{kind}"))
        clients[kind].ask("begin")
        scripts.append(clients[kind])
    figures = {(what, kind): [] for what in ["sent", "received"] for kind in KINDS}
    try:
        for turn in range(options.turns):
            for kind in KINDS if turn % 2 == 0 else KINDS[::-1]:
                figures["sent", kind].append(send(senders[kind], turn, options.requests, photo))
                figures["received", kind].append(
                    listen(listeners[kind], clients[kind], options.requests, photo))
    finally:
        for daemon in [*senders.values(), *listeners.values()]:
            daemon.kill()
        for script in scripts:
            script.end()
        shutil.rmtree(place, ignore_errors=True)
    result = {}
    for what in ["sent", "received"]:
        ratios = [one / other for (one, _), (other, _) in zip(figures[what, "encrypted"], figures[what, "plain"])]
        more = [one - other for (_, one), (_, other) in zip(figures[what, "encrypted"], figures[what, "plain"])]
        for kind in KINDS:
            print(f"{what} {kind}: " + ", ".join(f"{seconds:.2f} s {mib:.1f} MiB" for seconds, mib in figures[what, kind]))
        print(f"{what}: {statistics.median(ratios):.2f} times as long, {statistics.median(more):+.1f} MiB")
        result[what] = {"ratio": statistics.median(ratios), "MiB": statistics.median(more)}
    measure.keep("encrypted", {"requests": options.requests, **result})


if __name__ == "__main__":
    main()
