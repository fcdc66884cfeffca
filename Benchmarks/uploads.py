#!/usr/bin/env python3
"""Uploads the same objects of 1 MB with photospool's S3 store and with curl, four at a time, side by side in one run, and
prints the cost of each, without bounds:

    MB/s    of all objects of a round, from the start of the program to its end
    CPU     milliseconds an upload, user and system, of the program and of all processes that it started

The ways take turns, round after round, so that other load on the machine affects all of them alike:

    photospool         the product's own S3Store and HTTPClient in one process (Benchmarks/uploads), which hash the whole
                       object, sign it, and put it only where none is
    curl -T, 4 at once one curl for each object, as `xargs -P4` starts them
    curl --parallel    one curl for all objects of a round, which uses its connections again

Both curls sign with --aws-sigv4 and leave the object unhashed. The places, all on loopback: SeaweedFS's S3 gateway, the
same behind nginx with TLS, and nginx alone, which keeps what it is given with neither question nor signature.

    make build && .build/python/bin/python Benchmarks/uploads.py [--objects N] [--rounds N] [--markdown]

UPLOADS names another program than .build/release/uploads.
"""

import argparse
import os
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from measure import ROOT, SCRIPTS, Cost, Script, cost_of, keep, plot, spread, table

UPLOADS = os.environ.get("UPLOADS", str(ROOT / ".build/release/uploads"))
# The Python that runs the test servers.
SERVERS = os.environ.get("PHOTOSPOOL_PYTHON", sys.executable)
MEGABYTE, AT_ONCE = 1_000_000, 4
OWN, CURLS, ONE_CURL = "photospool", "curl -T, 4 at once", "curl --parallel"


@dataclass(frozen=True)
class Place:
    name: str
    url: str
    bucket: str
    key: str
    secret: str
    authority: str  # a PEM file
    kept: Path | None = None  # where its objects can be counted


def serve(stack: ExitStack, script: Path, *arguments: str) -> dict[str, str]:
    """Starts a server of a script that ends when its standard input does, and gives its facts."""
    directory = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
    server = Script(script, directory, *arguments, python=SERVERS)
    stack.callback(server.end)
    return server.answer()


def upload(way: str, place: Place, objects: list[Path], turn: str) -> Cost:
    if way == OWN:
        return cost_of(
            [UPLOADS, place.url, place.bucket, str(AT_ONCE), place.authority, *map(str, objects)],
            os.environ | {"UPLOADS_KEY": place.key, "UPLOADS_SECRET": place.secret})
    curl = ["curl", "--silent", "--show-error", "--fail", "--output", "/dev/null", "--cacert", place.authority,
            "--user", f"{place.key}:{place.secret}", "--aws-sigv4", "aws:amz:us-east-1:s3",
            "--header", "x-amz-content-sha256: UNSIGNED-PAYLOAD"]
    target = f"{place.url}/{place.bucket}/{turn}"
    if way == CURLS:
        pairs = "".join(f"{path} {target}-{path.name}\n" for path in objects)
        return cost_of(["xargs", f"-P{AT_ONCE}", "-L1", *curl, "-T"], said=pairs)
    settings = "".join(f'upload-file = "{path}"\nurl = "{target}-{path.name}"\noutput = "/dev/null"\n' for path in objects)
    return cost_of(
        [*curl, "--fail-early", "--no-progress-meter", "--parallel", "--parallel-max", str(AT_ONCE), "--config", "-"],
        said=settings)


def measure(place: Place, rounds: list[list[Path]]) -> dict[str, list[Cost]]:
    ways = [OWN, CURLS, ONE_CURL]
    costs = {way: [] for way in ways}
    for number, objects in enumerate(rounds):
        for step in range(len(ways)):
            way = ways[(number + step) % len(ways)]
            before = count(place)
            costs[way].append(upload(way, place, objects, f"{number}{step}"))
            if place.kept and count(place) - before != len(objects):
                sys.exit(f"{way} left {count(place) - before} objects of {len(objects)}")
    return costs


def count(place: Place) -> int:
    """Whole objects at a place."""
    folder = place.kept and place.kept / place.bucket
    return sum(file.stat().st_size == MEGABYTE for file in folder.iterdir()) if folder and folder.exists() else 0


# Printing


def report(place: Place, costs: dict[str, list[Cost]], each: int, markdown: bool) -> None:
    print(f"\n{place.name}: medians of {len(costs[OWN])} rounds of {each} objects, load {os.getloadavg()[0]:.1f}; photospool to "
          "each of them: median (least..most)." + ("\n" if markdown else ""), flush=True)
    own = costs[OWN]
    table(["", "MB/s", "CPU ms", "photospool's MB/s to it", "photospool's CPU to it"], [
        [way, f"{median(each / cost.wall for cost in of):.0f}", f"{median(cost.cpu / each * 1000 for cost in of):.1f}",
         *(["-", "-"] if way == OWN else [
             spread([b.wall / a.wall for a, b in zip(own, of)]), spread([a.cpu / b.cpu for a, b in zip(own, of)])])]
        for way, of in costs.items()], markdown)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--objects", type=int, default=200, help="uploads of each way to each place (200)")
    parser.add_argument("--rounds", type=int, default=5, help="turns that they are spread over (5)")
    parser.add_argument("--markdown", action="store_true", help="print tables as Markdown")
    options = parser.parse_args()
    if not os.access(UPLOADS, os.X_OK):
        sys.exit(f"{UPLOADS} is missing: build it with `make bench` or `swift build -c release --product uploads`")
    each = options.objects // options.rounds
    figures = {}
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        rounds = [[scratch / f"{number}-{index}" for index in range(each)] for number in range(options.rounds)]
        for path in (path for objects in rounds for path in objects):
            path.write_bytes(os.urandom(MEGABYTE))
        for is_secure in (False, True):
            # A service of its own for each, as it keeps 1 GB at most.
            with ExitStack() as servers:
                service = serve(servers, SCRIPTS / "seaweedfs.py")
                nginx = serve(servers, ROOT / "Benchmarks/uploads/nginx.py", service["endpoint"])
                who = (service["bucket"], service["accessKey"], service["secretKey"], nginx["authority"])
                kept = Path(nginx["authority"]).parent / "kept"
                for place in [
                    Place("SeaweedFS behind TLS", nginx["tls"], *who) if is_secure
                    else Place("SeaweedFS", service["endpoint"], *who),
                    Place("nginx with TLS", nginx["tlsSink"], *who, kept) if is_secure
                    else Place("nginx", nginx["sink"], *who, kept),
                ]:
                    costs = measure(place, rounds)
                    report(place, costs, each, options.markdown)
                    figures[place.name] = {
                        way: {"MB/s": median(each / cost.wall for cost in of),
                              "cpu_ms": median(cost.cpu / each * 1000 for cost in of)} for way, of in costs.items()}
    keep("uploads", figures)
    plot("uploads", f"Objects of 1 MB, {AT_ONCE} at once", "MB a second", {
        way: {place: ways[way]["MB/s"] for place, ways in figures.items()} for way in (OWN, CURLS, ONE_CURL)})


if __name__ == "__main__":
    main()
