#!/usr/bin/env python3
"""Prepares the same photographs with photospool and with its peers, and prints what each of them costs and yields.

The job: 2048 pixels on the longer side and never enlarged, upright, JPEG quality 85, no metadata. The tools take turns
on each photo, round after round, so that whatever else the machine does meets all of them alike. Prints figures and
holds nothing to them:

    CPU     seconds, user and system, of the tool and of all processes that it started
    wall    seconds
    memory  MiB, the peak of all its processes together (PSS: a shared page counts once), sampled in a run of its own
    RSS     MiB, the peak of the largest of its processes
    bytes   of the result
    SSIM    of the result against a reference

For the reference Pillow decodes the photo in full and turns it upright, LittleCMS converts it to sRGB where a profile
is embedded, and its luma (BT.601) is resized in floating point by Pillow's Lanczos (three lobes, widened, no reducing
gap) to the size of the result. SSIM is scikit-image's `structural_similarity` of luma with Gaussian weights: sigma 1.5,
population covariance, range 255.

Ten photos of 12 and 24 megapixels are made once in .build/bench-photos, of Debian's lomiri-wallpapers-16.04. When
PHOTOSPOOL_CORPUS names a directory, its large/*.jpg of 8 megapixels and more are a second set.

    python3 -m venv .build/bench-python && .build/bench-python/bin/pip install pillow numpy scikit-image
    .build/bench-python/bin/python Benchmarks/photos.py [--rounds N] [--photos N] [--tools NAME,...] [--markdown]

PHOTOSPOOL names another program than .build/release/photospool.
"""

import argparse
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from measure import PHOTOSPOOL, ROOT, Cost, cost_of, keep, plot, processes_below, spread, table

SIDE, QUALITY = 2048, 85
# Settings of the user do not count.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PHOTOSPOOL_")}


# Tools


def find(*names: str) -> str | None:
    """The first of the programs that is there."""
    return next(filter(None, map(shutil.which, names)), None)


@dataclass(frozen=True)
class Photo:
    path: Path
    longer: int  # pixels
    pixels: int
    has_profile: bool


@dataclass(frozen=True, eq=False)
class Tool:
    name: str
    package: str  # of Debian
    program: str | None  # where it is; None when it is missing
    words: list[str]  # the command, with {placeholders}
    is_exact: bool = True  # the result has the wanted size and is upright

    def command(self, photo: Photo, result: Path, quality: int = QUALITY) -> list[str]:
        """The arguments that make `result` of `photo`."""
        # The smallest scale of libjpeg, in eighths, that still covers the job.
        eighths = next((n for n in range(1, 8) if -(-photo.longer * n // 8) >= SIDE), 8)
        # For photos without a profile vips would make one up, and change their tones.
        profile = "--export-profile=srgb" if photo.has_profile else ""
        words = [word.format(
            program=self.program, photo=photo.path, result=result, directory=result.parent, quality=quality, side=SIDE,
            eighths=eighths, profile=profile) for word in self.words]
        return [word for word in words if word]


FLOOR = 'djpeg -scale "$1/8" "$2" | cjpeg -quality "$3" -optimize -outfile "$4"'
# An empty configuration, so that this machine's does not count.
PREPARE = ["{program}", "prepare", "--config", "/dev/null", "--force", "-o", "{directory}", "{photo}"]
# Both ImageMagicks are told the size before they read, which lets libjpeg decode less.
MAGICK = "-auto-orient -resize {side}x{side}> -strip -sampling-factor 2x2 -quality {quality} {result}".split()
TOOLS = [
    Tool("photospool", "photospool", PHOTOSPOOL, PREPARE),
    Tool("vipsthumbnail", "libvips-tools", find("vipsthumbnail"), [
        "{program}", "{photo}", "-s", "{side}x{side}>", "{profile}", "-o", "{result}[Q={quality},strip]"]),
    Tool("convert", "imagemagick", find("convert-im6.q16", "convert-im7.q16", "convert"), [
        "{program}", "-define", "jpeg:size={side}x{side}", "{photo}", *MAGICK]),
    Tool("gm convert", "graphicsmagick", find("gm"), [
        "{program}", "convert", "-size", "{side}x{side}", "{photo}", *MAGICK]),
    Tool("Pillow", "python3-pil", sys.executable, [
        "{program}", str(ROOT / "Benchmarks/photos/shrink.py"), "{photo}", "{result}", "{side}", "{quality}"]),
    Tool("djpeg|cjpeg", "libjpeg-turbo-progs", find("djpeg"), [
        "sh", "-c", FLOOR, "floor", "{eighths}", "{photo}", "{quality}", "{result}"], is_exact=False),
]


def chosen(names: str) -> list[Tool]:
    """photospool, and those of the peers that were asked for and are there."""
    known = [tool.name for tool in TOOLS]
    wanted = {"photospool", *(names.split(",") if names else known)}
    if unknown := wanted.difference(known):
        sys.exit(f"no such tool: {', '.join(sorted(unknown))}")
    for tool in TOOLS:
        if tool.name in wanted and not tool.program:
            print(f"{tool.name} is left out, as it is missing: install Debian's {tool.package}", file=sys.stderr)
    return [tool for tool in TOOLS if tool.name in wanted and tool.program]


# Measuring


def run(command: list[str], **settings: str) -> Cost:
    return cost_of(command, ENVIRONMENT | settings)


def peak_memory(command: list[str], **settings: str) -> float:
    """Runs a command and gives the most memory that its processes had together at one time, in MiB of PSS."""
    process = subprocess.Popen(
        command, env=ENVIRONMENT | settings, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(map(proportional_set, processes_below(process.pid))))
        time.sleep(0.005)
    return peak / 1024


def proportional_set(pid: int) -> int:
    """PSS of a process in KiB; its RSS, which is more, when it does not let itself be looked at."""
    try:
        return int(re.search(r"^Pss: +(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)[1])
    except PermissionError:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024
    except (OSError, TypeError):
        return 0  # It ended meanwhile.


def look_at(path: Path) -> Photo:
    from PIL import Image
    with Image.open(path) as image:
        return Photo(path, max(image.size), image.width * image.height, "icc_profile" in image.info)


def similarity(photo: Path, result: Path) -> float:
    """SSIM of a result against the reference, as the head of this file tells."""
    import io
    import numpy
    from PIL import Image, ImageCms, ImageOps
    from skimage.metrics import structural_similarity
    image, made = Image.open(photo), Image.open(result).convert("L")
    profile = image.info.get("icc_profile")
    image = ImageOps.exif_transpose(image)
    if profile:
        image = ImageCms.profileToProfile(image, io.BytesIO(profile), ImageCms.createProfile("sRGB"), outputMode="RGB")
    reference = image.convert("L").convert("F").resize(made.size, Image.Resampling.LANCZOS)
    return structural_similarity(
        numpy.asarray(reference, float), numpy.asarray(made, float), data_range=255, gaussian_weights=True, sigma=1.5,
        use_sample_covariance=False)


@dataclass
class Record:
    """The results of one tool with one photo."""
    costs: list[Cost] = field(default_factory=list)
    memory: float = 0  # MiB
    size: int = 0  # bytes
    ssim: float | None = None
    quality: int | None = QUALITY  # None when the picture was kept as it is


def measure(photos: list[Photo], used: list[Tool], rounds: int, scratch: Path, worker) -> dict[str, list[Record]]:
    """A record for each tool and photo. Ends with one of vipsthumbnail at the qualities that photospool chose."""
    records = {tool.name: [Record() for _ in photos] for tool in used}
    results = {tool: scratch / str(number) for number, tool in enumerate(used)}
    turns = []
    for index, photo in enumerate(photos):
        photo.path.read_bytes()  # No tool is to wait for the disk.
        for tool, directory in results.items():
            directory.mkdir(exist_ok=True)
            turns.append((tool, photo, directory / f"{photo.path.stem}.jpg", records[tool.name][index]))
    for _ in range(rounds):
        for tool, photo, result, record in turns:
            record.costs.append(run(tool.command(photo, result)))
    for tool, photo, result, record in turns:
        record.memory = peak_memory(tool.command(photo, result))
        weigh(tool, photo, result, record, worker)
    for own in records["photospool"]:
        chose = re.search(r"quality (\d+)", own.costs[0].told)
        own.quality = int(chose[1]) if chose else None
    for tool in used:
        if tool.name == "vipsthumbnail":
            records[ALIKE] = [Record(quality=own.quality or QUALITY) for own in records["photospool"]]
            for photo, record in zip(photos, records[ALIKE]):
                run(tool.command(photo, scratch / "alike.jpg", record.quality))
                weigh(tool, photo, scratch / "alike.jpg", record, worker)
    return records


def weigh(tool: Tool, photo: Photo, result: Path, record: Record, worker) -> None:
    record.size = result.stat().st_size
    if tool.is_exact:
        record.ssim = worker.submit(similarity, photo.path, result).result()


# Printing


ALIKE = "vipsthumbnail, same quality"


class Printer:
    def __init__(self, markdown: bool):
        self.markdown = markdown

    def say(self, text: str) -> None:
        print(f"\n{text}" + ("\n" if self.markdown else ""), flush=True)

    def table(self, head: list[str], rows: list[list[str]]) -> None:
        table(head, rows, self.markdown)


def figures(records: list[Record]) -> list[str]:
    """Medians over photos and rounds; of memory the most."""
    costs = [cost for record in records for cost in record.costs]
    ssims = [record.ssim for record in records if record.ssim]
    return [
        f"{median(cost.cpu for cost in costs):.3f}", f"{median(cost.wall for cost in costs):.3f}",
        f"{max(record.memory for record in records):.0f}", f"{max(cost.resident for cost in costs):.0f}",
        f"{median(record.size for record in records):,.0f}", f"{median(ssims):.4f}" if ssims else "-"]


def ratios(own: list[Record], peer: list[Record]) -> list[str]:
    """photospool to a peer, photo by photo and round by round: median, least and most."""
    photos = list(zip(own, peer))
    rounds = [pair for a, b in photos for pair in zip(a.costs, b.costs)]
    return [
        spread([a.cpu / b.cpu for a, b in rounds], 2), spread([a.wall / b.wall for a, b in rounds], 2),
        spread([a.memory / b.memory for a, b in photos if b.memory], 2),
        spread([a.resident / b.resident for a, b in rounds], 2),
        spread([a.size / b.size for a, b in photos], 3), spread([a.ssim / b.ssim for a, b in photos if b.ssim], 4)]


def report(title: str, photos: list[Photo], records: dict[str, list[Record]], out: Printer) -> None:
    out.say(
        f"{title}, one at a time: medians, of memory the most. photospool also makes a thumbnail of 300 pixels and "
        "converts embedded profiles to sRGB, as do vipsthumbnail and Pillow. djpeg|cjpeg neither reaches the exact "
        "size nor turns upright. Pillow's figures include the start of Python.")
    timed = {name: of for name, of in records.items() if name != ALIKE}
    out.table(["", "CPU s", "wall s", "memory MiB", "RSS MiB", "bytes", "SSIM"], [
        [name, *figures(of)] for name, of in timed.items()])
    own = records["photospool"]
    out.say(
        "photospool to each of them: median (least..most). \"Same quality\" is the one that photospool came down to "
        "where quality 85 makes 1,000,000 bytes or more.")
    out.table(["photospool to", "CPU", "wall", "memory", "RSS", "bytes", "SSIM"], [
        [name, *ratios(own, of)] for name, of in records.items() if of is not own])
    out.say("The quality that photospool chose for each photo, and vipsthumbnail at the same quality.")
    peers = records.get(ALIKE, [None] * len(photos))
    out.table(["photo", "megapixels", "bytes", "quality", "photospool", "SSIM", "vipsthumbnail", "SSIM"], [
        [photo.path.stem, f"{photo.pixels / 1e6:.1f}", f"{photo.path.stat().st_size:,}", str(mine.quality or "kept"),
         f"{mine.size:,}", f"{mine.ssim:.4f}", *([f"{peer.size:,}", f"{peer.ssim:.4f}"] if peer else ["-", "-"])]
        for photo, mine, peer in zip(photos, own, peers)])


def report_together(photos: list[Photo], used: list[Tool], rounds: int, scratch: Path, out: Printer) -> None:
    """All photos in one call, as a daemon has them: what it costs to start is paid once."""
    cores = [str(core) for core in sorted(os.sched_getaffinity(0))[:2]]
    paths = [str(photo.path) for photo in photos]
    prepare = [word.format(program=PHOTOSPOOL, directory=scratch) for word in PREPARE[:-1]] + paths
    ways = {f"photospool, {n} in flight": ["taskset", "-c", ",".join(cores[:n]), *prepare] for n in (1, 2)}
    for tool in used:
        if tool.name == "vipsthumbnail":
            ways[tool.name] = [tool.program, *paths, "-s", f"{SIDE}x{SIDE}>", "-o",
                               f"{scratch}/%s.jpg[Q={QUALITY},strip]"]
        elif tool.name == "djpeg|cjpeg":
            ways[tool.name] = ["sh", "-c", "; ".join(
                shlex.join(tool.command(photo, scratch / f"{photo.path.stem}.jpg")) for photo in photos)]
    settings = {way: {"PHOTOSPOOL_PHOTO_THREADS": re.sub(r"\D", "", way) or "1"} for way in ways}
    costs = [{way: run(command, **settings[way]) for way, command in ways.items()} for _ in range(rounds)]
    own = list(ways)[1]
    out.say(f"{len(photos)} photos in one call; of photospool as many in flight as it has cores.")
    out.table(["", "CPU s", "wall s", "fastest", "memory MiB", "CPU of photospool to it"], [
        [way, f"{median(cost[way].cpu for cost in costs):.2f}", f"{median(cost[way].wall for cost in costs):.2f}",
         f"{min(cost[way].wall for cost in costs):.2f}", f"{peak_memory(command, **settings[way]):.0f}",
         spread([cost[own].cpu / cost[way].cpu for cost in costs], 2)]
        for way, command in ways.items()])
    one, two = ([cost[way].wall for cost in costs] for way in list(ways)[:2])
    out.say(f"Two cores to one: {spread([a / b for a, b in zip(one, two)], 2)} times as fast; "
            f"{min(one) / min(two):.2f} by the fastest rounds, which say more on a busy machine.")


def report_start(used: list[Tool], rounds: int, scratch: Path, out: Printer) -> None:
    tiny = Photo(scratch / "tiny.jpg", 32, 32 * 32, has_profile=False)
    (scratch / "tiny").mkdir()
    run([sys.executable, "-c", f"from PIL import Image; Image.new('RGB', (32, 32)).save({str(tiny.path)!r})"])
    costs = [{tool: run(tool.command(tiny, scratch / "tiny/tiny.jpg")) for tool in used} for _ in range(2 * rounds)]
    out.say("Start: one photo of 32x32 pixels, medians.")
    out.table(["", "CPU s", "wall s"], [
        [tool.name, *(f"{median(getattr(cost[tool], what) for cost in costs):.4f}" for what in ("cpu", "wall"))]
        for tool in used])


def facts(used: list[Tool]) -> str:
    """The machine and software of the measurement, in one paragraph."""
    model = re.search(r"^model name\s*: (.*)", Path("/proc/cpuinfo").read_text(), re.M)
    system = re.search(r'^PRETTY_NAME="(.*)"', Path("/etc/os-release").read_text(), re.M)
    debian = [tool.package for tool in used if tool.name not in ("photospool", "Pillow")] + ["libjpeg62-turbo"]
    versions = run(["dpkg-query", "-W", "-f", "${Package} ${Version}, ", *debian]).told if find("dpkg-query") else ""
    pillow = run([sys.executable, "-c", "import PIL; print('Pillow', PIL.__version__)"]).told.strip()
    return (f"{model[1] if model else os.uname().machine}, {len(os.sched_getaffinity(0))} cores, "
            f"load {os.getloadavg()[0]:.1f}; {system[1] if system else 'Linux'}, kernel {os.uname().release}; "
            f"photospool {run([PHOTOSPOOL, '--version']).told.strip()}, {versions}{pillow}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="how often every tool takes every photo (5)")
    parser.add_argument("--photos", type=int, help="only the first so many of each set")
    parser.add_argument("--tools", default="", help="only these peers, separated by commas")
    parser.add_argument("--markdown", action="store_true", help="print tables as Markdown")
    options = parser.parse_args()
    if not os.access(PHOTOSPOOL, os.X_OK):
        sys.exit(f"{PHOTOSPOOL} is missing: build it with `make build`")
    if absent := [name for name in ("PIL", "numpy", "skimage") if not importlib.util.find_spec(name)]:
        sys.exit(f"Python lacks {', '.join(absent)}: pip install pillow numpy scikit-image")
    used, out, made = chosen(options.tools), Printer(options.markdown), ROOT / ".build/bench-photos"
    run([str(ROOT / "Benchmarks/photos/make.sh"), str(made)])
    sets = {"Made photos": sorted(made.glob("*.jpg"))}
    if corpus := os.environ.get("PHOTOSPOOL_CORPUS"):
        sets["Photos of the corpus"] = sorted(Path(corpus).glob("large/*.jpg"))
    figures = {}
    out.say(facts(used))
    with ProcessPoolExecutor(1) as worker, tempfile.TemporaryDirectory() as scratch:
        for title, paths in sets.items():
            photos = [photo for photo in worker.map(look_at, paths) if photo.pixels >= 8e6][:options.photos]
            if not photos:
                sys.exit(f"{title}: there are none of 8 megapixels and more")
            records = measure(photos, used, options.rounds, Path(scratch), worker)
            report(f"{title} ({len(photos)})", photos, records, out)
            figures[title] = {
                name: {what: median(getattr(cost, what) for record in of for cost in record.costs) for what in ("cpu", "wall")}
                | ({} if of[0].ssim is None else {"ssim": median(record.ssim for record in of)})
                for name, of in records.items() if name != ALIKE}
            report_together(photos, used, options.rounds, Path(scratch), out)
        report_start(used, options.rounds, Path(scratch), out)
    keep("photos", figures)
    plot("photos", "A photo", "seconds of the processor", {
        title: {name: of["cpu"] for name, of in names.items()} for title, names in figures.items()})


if __name__ == "__main__":
    main()
