#!/usr/bin/env python3
"""Prepares photos of every format and of 5 to 100 megapixels with photospool and with its peers: `photos.py` for each format.

The job is the one of `photos.py`. The peers are vipsthumbnail, Pillow, and a floor: the format's own library alone at the
cheapest setting that covers the size, then libjpeg (`photos/floor.c`). The tools take turns on each photo, round after
round, and each ratio is one of turns. Prints figures and holds nothing to them:

    CPU      seconds, user and system, of photospool and all processes that it started: median
    to ...   that to the same of a peer: median of the rounds
    memory   MiB, the peak of all processes together (PSS), sampled in a run of its own
    SSIM     against the picture from which the photo was encoded, resized by Pillow's bicubic filter, which nobody here uses

`photos/formats.py` makes the photos once in .build/bench-formats.

    .build/bench-python/bin/python Benchmarks/photo_formats.py [--rounds N] [--only NAME,...] [--markdown]

PHOTOSPOOL names another program than .build/release/photospool.
"""

import argparse
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median

from measure import PHOTOSPOOL, ROOT, keep
from photos import TOOLS, Photo, Printer, Tool, facts, peak_memory, run

MADE, FLOOR = ROOT / ".build/bench-formats", ROOT / ".build/bench-floor"
# For each format, what of it counts together.
GROUPS = ["baseline", "progressive", "heic-tiles", "heic-piece", "avif", "png", "webp", "webp-lossless"]


def tools() -> list[Tool]:
    program = Path(__file__).parent / "photos/floor.c"
    FLOOR.parent.mkdir(exist_ok=True)
    run(["cc", "-O2", str(program), "-o", str(FLOOR), "-ljpeg", "-lpng", "-lwebp", "-lheif"])
    peers = [tool for tool in TOOLS if tool.name in ("photospool", "vipsthumbnail", "Pillow") and tool.program]
    return [*peers, Tool("floor", "", str(FLOOR), ["{program}", "{photo}", "{result}", "{side}", "{quality}"])]


def similarity(source: Path, result: Path) -> float:
    import numpy
    from PIL import Image
    from skimage.metrics import structural_similarity
    Image.MAX_IMAGE_PIXELS = None
    made = Image.open(result).convert("L")
    reference = Image.open(source).convert("L").convert("F").resize(made.size, Image.Resampling.BICUBIC)
    return structural_similarity(
        numpy.asarray(reference, float), numpy.asarray(made, float), data_range=255, gaussian_weights=True, sigma=1.5,
        use_sample_covariance=False)


def look_at(photo: Path, source: Path) -> Photo:
    from PIL import Image
    Image.MAX_IMAGE_PIXELS = None
    with Image.open(source) as image:
        return Photo(photo, max(image.size), image.width * image.height, False)


def works(command: list[str]) -> bool:
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def measure(photo: Photo, source: Path, used: list[Tool], rounds: int, scratch: Path, worker) -> dict[str, dict]:
    """The figures of each tool that takes the photo."""
    photo.path.read_bytes()
    commands, figures = {}, {}
    for number, tool in enumerate(used):
        directory = scratch / str(number)
        directory.mkdir(exist_ok=True)
        result = directory / f"{photo.path.stem}.jpg"
        command = tool.command(photo, result)
        if works(command):
            commands[tool.name] = command
            figures[tool.name] = {"cpu": [], "result": result}
    for _ in range(rounds):
        for name, command in commands.items():
            figures[name]["cpu"].append(run(command).cpu)
    for name, of in figures.items():
        of["memory"] = peak_memory(commands[name])
        if name != "floor":
            of["ssim"] = worker.submit(similarity, source, of["result"]).result()
    return figures


def ratio(figures: dict[str, dict], peer: str) -> float | None:
    if "photospool" not in figures or peer not in figures:
        return None
    return median(a / b for a, b in zip(figures["photospool"]["cpu"], figures[peer]["cpu"]))


def shown(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def row(name: str, photo: Photo, figures: dict[str, dict]) -> list[str]:
    own, vips, floor = (figures.get(tool, {}) for tool in ("photospool", "vipsthumbnail", "floor"))
    return [
        name, f"{photo.pixels / 1e6:.0f}", shown(median(own["cpu"]) if own else None, 3),
        *(shown(ratio(figures, peer)) for peer in ("vipsthumbnail", "Pillow", "floor")),
        *(shown(of.get("memory"), 0) for of in (own, vips, floor)), *(shown(of.get("ssim"), 4) for of in (own, vips))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="how often every tool takes every photo (5)")
    parser.add_argument("--only", default="", help="only photos whose names begin with one of these")
    parser.add_argument("--markdown", action="store_true", help="print tables as Markdown")
    options = parser.parse_args()
    if not works([PHOTOSPOOL, "--version"]):
        sys.exit(f"{PHOTOSPOOL} is missing: build it with `make build`")
    used, out = tools(), Printer(options.markdown)
    out.say(facts([tool for tool in used if tool.name != "floor"]))
    # Making them takes much memory, which the processes of the measurement would inherit.
    run([sys.executable, str(Path(__file__).parent / "photos/formats.py"), str(MADE)])
    rows, all_ratios = [], {}
    with ProcessPoolExecutor(1) as worker, tempfile.TemporaryDirectory() as scratch:
        for line in sorted(MADE.glob("*.source")):
            name, photo = line.stem, MADE / line.read_text().split()[0]
            source = MADE / "pictures" / line.read_text().split()[1]
            if not name.startswith(tuple(options.only.split(","))):
                continue
            looked = worker.submit(look_at, photo, source).result()
            figures = measure(looked, source, used, options.rounds, Path(scratch), worker)
            rows.append(row(name, looked, figures))
            all_ratios[name] = {peer: ratio(figures, peer) for peer in ("vipsthumbnail", "Pillow", "floor")}
    out.say("One photo at a time. Pillow's figures include the start of Python.")
    head = ["photo", "megapixels", "CPU s", "to vipsthumbnail", "to Pillow", "to the floor", "memory MiB",
            "vipsthumbnail", "floor", "SSIM", "vipsthumbnail"]
    out.table(head, rows)
    out.say("Medians of the photos of a format.")
    summary = []
    for group in GROUPS:
        members = [of for name, of in all_ratios.items() if max(
            (one for one in GROUPS if name.startswith(one)), key=len) == group]
        if members:
            summary.append([group, *(
                shown(median(found) if (found := [of[peer] for of in members if of[peer]]) else None)
                for peer in ("vipsthumbnail", "Pillow", "floor"))])
    out.table(["format", "to vipsthumbnail", "to Pillow", "to the floor"], summary)
    keep("photo_formats", {row[0]: dict(zip(head[1:], row[1:])) for row in rows} | {"ratios": all_ratios})


if __name__ == "__main__":
    main()
