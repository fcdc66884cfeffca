#!/usr/bin/env python3
"""How long `photospool view` takes, from its start to its end, for photos that are in the cache: with a daemon and without
one. Prints figures without bounds.

    make build && .build/bench-python/bin/python Benchmarks/view.py [--photos N] [--views N]

PHOTOSPOOL names another program than .build/release/photospool.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import measure
from measure import PHOTOSPOOL

HERE = Path(__file__).resolve().parent


def views(photos: int, count: int) -> list[float]:
    """Milliseconds of each of `count` views of different photos."""
    took = []
    for number in range(count):
        message = hashlib.md5(str(number * (photos // count)).encode()).hexdigest()
        begin = time.monotonic()
        shown = subprocess.run([PHOTOSPOOL, "view", message], stdout=subprocess.PIPE, text=True, check=True)
        took.append((time.monotonic() - begin) * 1000)
        if not os.path.isfile(shown.stdout.strip()):
            raise SystemExit(f"no photo is at {shown.stdout!r}")
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=int, default=10_000)
    parser.add_argument("--views", type=int, default=200)
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="photospool-view."))
    os.environ |= {"PHOTOSPOOL_SPOOL": str(scratch / "spool"), "HOME": str(scratch), "XDG_CONFIG_HOME": str(scratch)}
    figures, daemon = {}, None
    try:
        with open(scratch / "log", "wb") as log:
            daemon = subprocess.Popen([PHOTOSPOOL, "run"], stdout=subprocess.DEVNULL, stderr=log)
            measure.wait_until(lambda: (scratch / "spool/state/control").exists(), 30)
            measure.end(daemon)
            subprocess.run(
                [sys.executable, HERE / "fill_cache.py", scratch / "spool", str(options.photos), "10", "1", "1000"],
                check=True)
            figures["without a daemon"] = views(options.photos, options.views)
            daemon = subprocess.Popen([PHOTOSPOOL, "run"], stdout=subprocess.DEVNULL, stderr=log)
            measure.wait_until(lambda: (scratch / "spool/state/control").exists(), 30)
            figures["beside a daemon"] = views(options.photos, options.views)
    finally:
        measure.end(daemon)
        shutil.rmtree(scratch, ignore_errors=True)
    print(f"view of one of {options.photos} photos, milliseconds; {measure.machine()}\n")
    bars = measure.percentiles(figures)
    measure.keep("view", {"photos": options.photos, "milliseconds": figures})
    measure.plot("view", f"view, of {options.photos} photos", "ms", bars)


if __name__ == "__main__":
    main()
