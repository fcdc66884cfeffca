"""Shared code of the benchmarks: processor time of programs, figures as JSON, and bars as SVG."""

import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

TICK = 1 / os.sysconf("SC_CLK_TCK")
ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "Tests/Support/python"
RESULTS = ROOT / ".build/bench"
PHOTOSPOOL = os.environ.get("PHOTOSPOOL", str(ROOT / ".build/release/photospool"))


def drop(spool: Path, name: str, to: str, text: str | None = None, photo: Path | None = None) -> float:
    """Sends a request as any script does. Returns when it was renamed."""
    request = spool / "tmp" / name
    request.mkdir()
    (request / "to").write_text(to)
    if text is not None:
        (request / "text").write_text(text)
    if photo:
        shutil.copy(photo, request / "photo.jpg")
    now = time.monotonic()
    request.rename(spool / "new" / name)
    return now


def environment_of(place: Path, port: int, more: str = "log: {level: warning}\n") -> dict[str, str]:
    """That of a daemon whose spool is in a place, and that sends to a webhook at a port of this computer."""
    (place / "photospool.yaml").write_text(
        f"network: {{type: webhook, url: 'http://127.0.0.1:{port}/', allowPrivate: true, secretVariable: SECRET}}\n{more}")
    return os.environ | {
        "PHOTOSPOOL_SPOOL": str(place / "spool"), "PHOTOSPOOL_CONFIG": str(place / "photospool.yaml"),
        "SECRET": "whsec_" + "c2VjcmV0" * 4}


class Script:
    """A script that answers with lines of JSON, and ends when its standard input does."""

    def __init__(self, script: Path, *arguments: str | Path, python: str = sys.executable, stderr=None):
        self.script = script
        self.process = subprocess.Popen(
            [python, script, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True)

    def answer(self) -> dict:
        line = self.process.stdout.readline()
        return json.loads(line) if line else sys.exit(f"{self.script.name} ended")

    def ask(self, *words: str) -> dict:
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait()


@dataclass(frozen=True)
class Cost:
    cpu: float  # seconds
    wall: float  # seconds
    resident: float  # MiB
    told: str  # what the program printed


def cost_of(command: list[str], environment: dict[str, str] | None = None, said: str = "") -> Cost:
    """Runs a command to its end, with `said` on its standard input.

    The kernel's account of a process begins with the resident memory of the one that started it. So a benchmark of memory
    stays small, and leaves everything about pixels to a worker.
    """
    with tempfile.TemporaryFile("w+") as words:
        words.write(said)
        words.seek(0)
        start = time.monotonic()
        process = subprocess.Popen(
            command, env=environment, stdin=words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
        told = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{shlex.join(command)[:300]} failed with {process.returncode}:\n{told[-2000:]}")
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, told)


def end(*processes: subprocess.Popen | None) -> None:
    """Ends those that run, in this order."""
    for process in processes:
        if process and process.poll() is None:
            process.terminate()
            process.wait()


def processes_below(pid: int) -> list[int]:
    """A process and its descendants."""
    found = [pid]
    for parent in found:
        try:
            for children in Path(f"/proc/{parent}/task").glob("*/children"):
                found += map(int, children.read_text().split())
        except OSError:
            pass  # It ended meanwhile.
    return found


def processor_seconds(pid: int) -> float:
    """The processor time of a process, its descendants, and those of them that were waited for."""
    ticks = 0
    for one in processes_below(pid):
        try:
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks * TICK


def resident_mib(pid: int) -> float:
    """The resident memory of a process and its descendants; shared pages count for each."""
    total = 0
    for one in processes_below(pid):
        try:
            status = Path(f"/proc/{one}/status").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))
    return total / 1024


def wait_until(is_so, seconds: float, pause: float = 0.005) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise TimeoutError(f"not so within {seconds} s")
        time.sleep(pause)


def percentile(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def percentiles(figures: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    """Prints p50 and p99 of each of these as a table, and gives them as bars to plot."""
    bars = {f"p{part}": {name: percentile(values, part / 100) for name, values in figures.items()} for part in (50, 99)}
    table(["", *bars], [[name, *(f"{values[name]:.1f}" for values in bars.values())] for name in figures], markdown=True)
    return bars


def spread(values: list[float], digits: int = 2) -> str:
    """Median, and the least and the most."""
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}..{max(values):.{digits}f})" if values else "-"


def table(head: list[str], rows: list[list[str]], markdown: bool) -> None:
    """Prints a table, as Markdown or in columns."""
    if markdown:
        for row in [head, ["---"] + ["---:"] * (len(head) - 1), *rows]:
            print("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
        return
    widths = [max(map(len, column)) for column in zip(head, *rows)]
    for row in [head, *rows]:
        print(row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:]), sep="  ")


def machine() -> str:
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    return f"{model}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"


def keep(name: str, figures: dict) -> None:
    """Writes figures to .build/bench/NAME.json."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps({"machine": machine()} | figures, indent=2) + "\n")


def show_goals(name: str, rows: list[tuple[str, str, str]]) -> None:
    """Prints what was measured beside its goals as a table, and keeps the figures."""
    print(f"{machine()}\n")
    for row in [("what", "measured", "goal"), ("---", "---:", "---:"), *rows]:
        print("| " + " | ".join(row) + " |")
    keep(name, {what: figure for what, figure, _ in rows})


def plot(name: str, title: str, unit: str, series: dict[str, dict[str, float]], logarithmic: bool = False) -> None:
    """Writes groups of bars to .build/bench/NAME.svg: for each series, what stands at each place."""
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot

    places = list(dict.fromkeys(place for values in series.values() for place in values))
    figure, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
    width = 0.8 / len(series)
    for number, (label, values) in enumerate(series.items()):
        at = [place + (number - (len(series) - 1) / 2) * width for place in range(len(places))]
        bars = axes.bar(at, [values.get(place, 0) for place in places], width, label=label)
        axes.bar_label(bars, fmt="{:,.3g}", fontsize=8)
    axes.set_xticks(range(len(places)), places)
    axes.set_title(title)
    axes.set_ylabel(unit)
    if logarithmic:
        axes.set_yscale("log")
    if len(series) > 1:
        axes.legend()
    RESULTS.mkdir(parents=True, exist_ok=True)
    figure.savefig(RESULTS / f"{name}.svg")
    pyplot.close(figure)
