#!/usr/bin/env python3
"""Photos of 12 megapixels that go sealed to an S3 service and to a webhook: through photospool, through a typical shell script,
and through a typical Python program. Prints figures without bounds.

    alone       milliseconds from the rename of one photo to the webhook, one photo at a time
    together    photos a second, from the first rename of many to the webhook's last, and processor time of each photo

The job of all three: what was taken on is on the disk (each syncs it); 2048 pixels on the longer side, upright, quality 85,
nothing but the picture; sealed; put into SeaweedFS's S3 gateway, which checks the signature; posted to a sink. They get as
many at once as there are processors, and take turns, so that other load on the machine affects all alike; each has a
session of its own, between which the kernel shares the processors.

    photospool  one daemon, in the order of eight conversations, with its ledger, thumbnail and cache
    glue        inotifywait, xargs, and for each photo vipsthumbnail, openssl and two curls (photo_requests/ship.sh)
    Python      inotifywait, and processes with Pillow, cryptography, boto3 and requests (photo_requests/pool.py)

The floor is the minimum of that work, each part by itself and without a spool: `photospool prepare` of the same photos
in one call, sealing them in this process (AES-256-GCM and SHA-256), and one curl that puts them all. Alone, prepare has
one thread and curl one connection; together, as many threads as processors and eight connections. The parts are added
up.

    make build && .build/bench-python/bin/python Benchmarks/photo_requests.py [--alone N] [--together N] [--turns N]

PHOTOSPOOL names another program than .build/release/photospool, PHOTOSPOOL_PYTHON the Python that has SeaweedFS.
"""

import argparse
import hashlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import measure
from measure import PHOTOSPOOL, SCRIPTS
from texts import WebSink

HERE = Path(__file__).resolve().parent
PYTHON = os.environ.get("PHOTOSPOOL_PYTHON", str(HERE.parent / ".build/python/bin/python"))
AT_ONCE = os.cpu_count() or 1
CONVERSATIONS, CONNECTIONS = 8, 8
PATIENCE = 300


class Service(measure.Script):
    """SeaweedFS, until its standard input ends."""

    def __init__(self, place: Path):
        place.mkdir()
        super().__init__(SCRIPTS / "seaweedfs.py", place, python=PYTHON)
        self.facts = self.answer()
        self.environment = {
            "S3_KEY": self.facts["accessKey"], "S3_SECRET": self.facts["secretKey"],
            "S3_URL": f"{self.facts['endpoint']}/{self.facts['bucket']}"}


class Photospool:
    def __init__(self, place: Path, service: Service, sink: WebSink):
        self.spool, facts = place / "spool", service.facts
        place.mkdir()
        (place / "photospool.yaml").write_text(f"""
store: {{type: s3, endpoint: '{facts["endpoint"]}', region: {facts["region"]}, bucket: {facts["bucket"]},
  accessKeyVariable: S3_KEY, secretKeyVariable: S3_SECRET}}
network: {{type: webhook, url: 'http://127.0.0.1:{sink.port}/', allowPrivate: true, secretVariable: SECRET}}
log: {{level: warning}}
""")
        environment = os.environ | service.environment | {
            "PHOTOSPOOL_SPOOL": str(self.spool), "PHOTOSPOOL_CONFIG": str(place / "photospool.yaml"),
            "SECRET": "whsec_" + "c2VjcmV0" * 4}
        self.process = subprocess.Popen(
            [PHOTOSPOOL, "run"], env=environment, start_new_session=True, stdout=subprocess.DEVNULL,
            stderr=open(place / "log", "wb"))
        measure.wait_until(lambda: (self.spool / "state/control").exists(), 30)

    def lay_out(self, name: str, photo: Path, number: int) -> None:
        request = self.spool / "tmp" / name
        request.mkdir()
        shutil.copy(photo, request / "photo.jpg")
        (request / "to").write_text(f"c{number % CONVERSATIONS}\n")

    def drop(self, name: str) -> None:
        (self.spool / "tmp" / name).rename(self.spool / "new" / name)

    def has_done(self, name: str) -> bool:
        return (self.spool / "sent" / name).exists()

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()


def watches(pid: int) -> bool:
    """Whether a process has a watch on a directory."""
    try:
        return any("inotify wd:" in file.read_text() for file in Path(f"/proc/{pid}/fdinfo").iterdir())
    except OSError:
        return False


class Script:
    """Takes photos that are renamed into in/, and moves them to done/."""

    def __init__(self, place: Path, command: list, service: Service, sink: WebSink):
        self.place = place
        for name in ("tmp", "in", "work", "done"):
            (place / name).mkdir(parents=True)
        self.process = subprocess.Popen(
            command, env=os.environ | service.environment | {"HOOK": f"http://127.0.0.1:{sink.port}/"},
            start_new_session=True, stdout=subprocess.DEVNULL)
        # A photo that comes before the watch is never seen.
        measure.wait_until(lambda: any(map(watches, measure.processes_below(self.process.pid))), 30)

    def lay_out(self, name: str, photo: Path, number: int) -> None:
        shutil.copy(photo, self.place / "tmp" / name)

    def drop(self, name: str) -> None:
        (self.place / "tmp" / name).rename(self.place / "in" / name)

    def has_done(self, name: str) -> bool:
        return (self.place / "done" / name).exists()

    def end(self) -> None:
        os.killpg(self.process.pid, 15)
        self.process.wait()


def glue(place: Path, service: Service, sink: WebSink) -> Script:
    return Script(place, [HERE / "photo_requests/glue.sh", place, str(AT_ONCE)], service, sink)


def python(place: Path, service: Service, sink: WebSink) -> Script:
    line = 'inotifywait -q -m -e moved_to --format %f "$1" | "$2" "$3" "$4" "$5"'
    return Script(
        place, ["sh", "-c", line, "python", place / "in", sys.executable, HERE / "photo_requests/pool.py", place,
                str(AT_ONCE)], service, sink)


def send(way, sink: WebSink, photos: list[Path], turn: str) -> dict[str, float]:
    """Drops photos at once. Seconds of each until the webhook has heard of all, and of the processor until all is over."""
    names = [f"{turn}-{number:03d}.jpg" for number in range(len(photos))]
    for number, (name, photo) in enumerate(zip(names, photos)):
        way.lay_out(name, photo, number)
    before, due = measure.processor_seconds(way.process.pid), sink.taken() + len(names)
    begin = time.monotonic()
    for name in names:
        way.drop(name)
    measure.wait_until(lambda: sink.taken() >= due, PATIENCE, pause=0.0005)
    wall = time.monotonic() - begin
    measure.wait_until(lambda: all(map(way.has_done, names)), PATIENCE)
    return {"wall": wall / len(names), "cpu": (measure.processor_seconds(way.process.pid) - before) / len(names)}


def floor(place: Path, service: Service, photos: list[Path], is_alone: bool) -> dict[str, float]:
    """Seconds of each photo: of each part by the clock, and of all parts of the processor."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    place.mkdir()
    copies = [place / f"{number:03d}.jpg" for number in range(len(photos))]
    for photo, copy in zip(photos, copies):
        shutil.copy(photo, copy)
    before, begin = processor(), time.monotonic()
    subprocess.run(
        [PHOTOSPOOL, "prepare", "--config", "/dev/null", "-o", place / "made", *copies], check=True, capture_output=True,
        start_new_session=True, env=os.environ | {"PHOTOSPOOL_PHOTO_THREADS": "1" if is_alone else str(AT_ONCE)})
    parts = {"prepare": time.monotonic() - begin}
    made, begin = [(place / "made" / copy.name).read_bytes() for copy in copies], time.monotonic()
    sealed = [AESGCM(AESGCM.generate_key(256)).encrypt(os.urandom(12), one, None) for one in made]
    names = [hashlib.sha256(one).hexdigest() for one in sealed]
    parts["seal"] = time.monotonic() - begin
    settings = ""
    for name, one in zip(names, sealed):
        (place / name).write_bytes(one)
        settings += f'upload-file = "{place / name}"\nurl = "{service.environment["S3_URL"]}/{name}"\noutput = "/dev/null"\n'
    begin = time.monotonic()
    subprocess.run(
        ["curl", "--silent", "--show-error", "--fail", "--no-progress-meter", "--aws-sigv4", "aws:amz:us-east-1:s3",
         "--user", f"{service.environment['S3_KEY']}:{service.environment['S3_SECRET']}",
         "--header", "x-amz-content-sha256: UNSIGNED-PAYLOAD",
         *([] if is_alone else ["--parallel", "--parallel-max", str(CONNECTIONS)]), "--config", "-"],
        start_new_session=True, input=settings, text=True, check=True)
    parts["upload"] = time.monotonic() - begin
    costs = parts | {"wall": sum(parts.values()), "cpu": processor() - before}
    shutil.rmtree(place)
    return {name: seconds / len(photos) for name, seconds in costs.items()}


def processor() -> float:
    """Seconds of this process and of those that it has waited for."""
    return sum(os.times()[:4])


def report(title: str, costs: dict[str, list[dict[str, float]]]) -> dict[str, dict[str, float]]:
    """Prints what turns cost, in milliseconds a photo, and returns the medians of ratios and of the floor's parts."""
    print(f"\n| {title} | ms each | CPU ms each | a second | its time to photospool's | its CPU to photospool's |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: |")
    ratios = {"wall": {}, "cpu": {}}
    for name, turns in costs.items():
        cells = [measure.spread([turn[what] * 1000 for turn in turns], 0) for what in ratios]
        cells.append(f"{statistics.median(1 / turn['wall'] for turn in turns):.2f}")
        for what, medians in ratios.items():
            # One at a time there are more photos than floors, and a photo takes too few ticks of the clock to be divided by.
            own = [its[what] / max(mine[what], 0.01) for its, mine in zip(turns, costs["photospool"])]
            if len(turns) != len(costs["photospool"]):
                own = [statistics.median(turn[what] for turn in turns)
                       / statistics.median(turn[what] for turn in costs["photospool"])]
            medians[name] = statistics.median(own)
            cells.append(measure.spread(own))
        print(f"| {name} | " + " | ".join(cells) + " |")
    parts = {part: statistics.median(turn[part] * 1000 for turn in costs["floor"]) for part in ("prepare", "seal", "upload")}
    print("the floor, ms each: " + ", ".join(f"{part} {value:.1f}" for part, value in parts.items()) + "; photospool to it: "
          + ", ".join(f"{what} {1 / medians['floor']:.2f}" for what, medians in ratios.items()))
    return {"times": ratios, "floor": parts}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--alone", type=int, default=12, help="photos one at a time (12)")
    parser.add_argument("--together", type=int, default=48, help="photos at once (48)")
    parser.add_argument("--turns", type=int, default=3, help="how often many are sent (3)")
    options = parser.parse_args()
    from PIL import Image
    corpus = HERE.parent / ".build/bench-photos"
    subprocess.run([HERE / "photos/make.sh", corpus], check=True)
    made = [path for path in sorted(corpus.glob("*.jpg")) if (size := Image.open(path).size)[0] * size[1] == 12_000_000]
    print(f"photos of 12 megapixels, {AT_ONCE} at once; {measure.machine()}")
    costs = {kind: {name: [] for name in ("photospool", "glue", "Python", "floor")} for kind in ("alone", "together")}
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(
            tempfile.TemporaryDirectory(prefix="photospool-photos.", ignore_cleanup_errors=True)))
        subprocess.run(["cc", "-O2", "-o", scratch / "sink", HERE / "sink.c"], check=True)
        service, sink = Service(scratch / "weed"), WebSink(scratch, scratch)
        stack.callback(service.end)
        stack.callback(sink.end)
        ways = {}
        for name, start in [("photospool", Photospool), ("glue", glue), ("Python", python)]:
            ways[name] = start(scratch / name, service, sink)
            stack.callback(ways[name].end)
        for way in ways.values():
            send(way, sink, made[:AT_ONCE], "warm")
        for number in range(options.alone):
            photos = [made[number % len(made)]]
            for name, way in ways.items():
                costs["alone"][name].append(send(way, sink, photos, f"a{number:03d}"))
        for _ in range(options.turns):
            photos = [made[number % len(made)] for number in range(options.alone)]
            costs["alone"]["floor"].append(floor(scratch / "floor", service, photos, is_alone=True))
        for turn in range(options.turns):
            photos = [made[number % len(made)] for number in range(options.together)]
            for name, way in ways.items():
                costs["together"][name].append(send(way, sink, photos, f"t{turn}"))
            costs["together"]["floor"].append(floor(scratch / "floor", service, photos, is_alone=False))
        ratios = {kind: report(kind, of) for kind, of in costs.items()}
    measure.keep("photo_requests", {"costs": costs, "ratios": ratios})
    measure.plot("photo_requests", "Photos of 12 megapixels, to S3 and a webhook", "ms each", {
        kind: {name: statistics.median(turn["wall"] for turn in turns) * 1000 for name, turns in of.items()}
        for kind, of in costs.items()})


if __name__ == "__main__":
    main()
