"""Injects a number of faults, has the oracle judge the results, and prints the table.

    torture.py [--faults N] [--seed N] [--jobs N] [--only PATTERN]... [--json FILE] [--state DIRECTORY] [--fresh]
        [--so-far]

N faults (20,000 by default, or TORTURE_FAULTS) are those of all sweeps, which take every call from 20,000 on and one of
several below, and as many others. A run that was stopped goes on where it was when it is started again, unless --fresh;
a run with the same seed (TORTURE_SEED) injects the same. --so-far prints the table of what a run has done until now. Every scenario: Tests/Torture/README.md.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import place
import scenario
import shared

COLUMNS = {"lost": ["LOST"], "doubled": ["DUP"], "disordered": ["ORDER"], "left": ["CLEAN", "GONE"], "dead": ["ALIVE"]}
# A scenario that takes longer is stuck; the longest takes a small part of that.
PATIENCE = 4 * 3600


# With fewer faults a scenario is done in one part: each has to be set up.
DIVIDED = 2_000


def interrupted(*_):
    raise InterruptedError("the part was killed")


def run_part(name, number, parts, seed, faults):
    """Runs one part here and prints its result as one line of JSON."""
    part = scenario.Part(scenario.load()[name], number, parts, seed, faults)
    result, start = {"skipped": None, "broken": None}, time.monotonic()
    # So that no daemon outlives a part that is killed.
    signal.signal(signal.SIGTERM, interrupted)
    try:
        part.scenario.run(part)
    except scenario.Skip as reason:
        result["skipped"] = str(reason)
    except place.Stuck as stuck:
        # A control must not pass because it is stuck.
        if part.scenario.must:
            result["broken"] = str(stuck)
        part.complain("ALIVE", f"{stuck} [{part.places[-1].context if part.places else ''}]")
    except Exception:
        result["broken"] = traceback.format_exc()[-1500:]
    part.end()
    result |= {
        "scenario": name, "part": number, "seed": seed, "faults": part.injected, "accepted": part.taken,
        "complaints": part.complaints[:50], "kinds": part.notes, "seconds": round(time.monotonic() - start, 1),
        "words": collections.Counter(complaint.split()[0] for complaint in part.complaints),
        "kept": [one.path for one in part.places if os.path.exists(one.path)]}
    print(json.dumps(result), flush=True)


class Run:
    def __init__(self, options):
        self.options, self.results = options, []
        self.scenarios = {
            name: one for name, one in scenario.load().items()
            if any(fnmatch.fnmatch(name, pattern) for pattern in options.only) or not options.only and not one.is_extra}
        if not self.scenarios:
            sys.exit(f"no scenario is called so; there are: {', '.join(scenario.SCENARIOS)}")
        self.state = options.state / f"{options.seed}-{options.faults}.jsonl"
        if options.fresh:
            self.state.unlink(missing_ok=True)
        self.done = {}
        if self.state.exists():
            for line in self.state.read_text().splitlines():
                result = json.loads(line)
                self.done[result["scenario"], result["part"]] = result

    def everything(self):
        """The sweeps and controls first; then as many faults as are missing."""
        finite = [
            (one, number) for one in self.scenarios.values() if not one.weight for number in range(self.divided(one))]
        self.parts(finite, self.options.faults)
        endless = [one for one in self.scenarios.values() if one.weight]
        weights = sum(one.weight for one in endless)
        for again in range(4 if endless else 0):
            missing = self.options.faults - self.injected
            if missing <= 0 and again:
                break
            units = [(one, again * self.divided(one) + number) for one in endless for number in range(self.divided(one))]
            # `quota` multiplies with the weight and divides by the parts.
            self.parts(units, max(missing, 1) / weights)

    def divided(self, one):
        return one.parts if self.options.faults >= DIVIDED else 1

    @property
    def injected(self):
        return sum(result["faults"] for result in self.results if not scenario.SCENARIOS[result["scenario"]].must)

    def parts(self, units, faults):
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for result in pool.map(lambda unit: self.part(*unit, faults), units):
                self.results.append(result)

    def part(self, one, number, faults):
        if (one.name, number) in self.done:
            return self.done[one.name, number]
        try:
            finished = subprocess.run(
                [sys.executable, __file__, "--part", one.name, *map(
                    str, (number, self.divided(one), self.options.seed, round(faults)))],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
            result = json.loads(finished.stdout.strip().splitlines()[-1])
        except (subprocess.TimeoutExpired, ValueError, IndexError) as error:
            result = {"scenario": one.name, "part": number, "seed": self.options.seed, "faults": 0, "accepted": 0,
                      "complaints": [], "kinds": {}, "seconds": 0, "words": {}, "kept": [], "skipped": None,
                      "broken": f"the part did not come to its end: {error}"}
        if not result["broken"]:
            with open(self.state, "a") as file:
                file.write(json.dumps(result) + "\n")
        say = result["skipped"] or result["broken"] or ("; ".join(result["complaints"][:3]) or "nothing to complain of")
        print(f"{one.name} {number}: {result['faults']} faults, {result['accepted']} accepted, "
              f"{result['seconds']} s: {say}", file=sys.stderr, flush=True)
        return result

    def rows(self):
        rows = []
        for one in self.scenarios.values():
            results = [result for result in self.results if result["scenario"] == one.name]
            words, kinds = collections.Counter(), collections.Counter()
            for result in results:
                words.update(result["words"])
                kinds.update(result["kinds"])
            row = {
                "scenario": one.name, "faults": sum(r["faults"] for r in results), "kinds": kinds,
                "accepted": sum(r["accepted"] for r in results), "must": one.must,
                "skipped": next((r["skipped"] for r in results if r["skipped"]), None),
                "broken": next((r["broken"] for r in results if r["broken"]), None),
                "complaints": [c for r in results for c in r["complaints"]], "kept": [k for r in results for k in r["kept"]],
                "seconds": round(sum(r["seconds"] for r in results), 1)}
            row |= {column: sum(words[word] for word in of) for column, of in COLUMNS.items()}
            if one.must:
                row["good"] = not row["broken"] and (bool(row["skipped"]) or words[one.must] > 0)
            else:
                row["good"] = not row["broken"] and not row["complaints"]
            rows.append(row)
        return rows


def table(rows, seed):
    heads = ["scenario", "faults", "accepted", "lost", "doubled", "out of order", "left behind", "dead", ""]
    lines = []
    for row in rows:
        verdict = "ok" if row["good"] else "FAILED"
        if row["skipped"]:
            verdict = "SKIPPED: " + row["skipped"]
        elif row["must"]:
            verdict = f"must fail with {row['must']}: " + ("did" if row["good"] else "DID NOT")
        if row["broken"]:
            verdict = "BROKEN: " + row["broken"].strip().splitlines()[-1]
        lines.append([row["scenario"], *(f"{row[name]:,}" for name in ("faults", "accepted", *COLUMNS)), verdict])
    proofs = [row for row in rows if not row["must"]]
    lines.append(["in all, without the controls", *(
        f"{sum(row[name] for row in proofs):,}" for name in ("faults", "accepted", *COLUMNS)), f"seed {seed}"])
    widths = [max(len(line[column]) for line in [heads, *lines]) for column in range(8)]
    for line in [heads, *lines]:
        cells = [cell.ljust(width) if column == 0 else cell.rjust(width)
                 for column, (cell, width) in enumerate(zip(line, widths))]
        print("  ".join([*cells, line[8]]).rstrip())


def main():
    if sys.argv[1:2] == ["--part"]:
        return run_part(sys.argv[2], *map(int, sys.argv[3:]))
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--faults", type=int, default=int(os.environ.get("TORTURE_FAULTS") or scenario.ALL))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("TORTURE_SEED") or 0))
    # Most of a part is waiting: for syncs, and for the pauses of a program behind a fault.
    parser.add_argument("--jobs", type=int, default=4 * os.cpu_count())
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--state", type=pathlib.Path, default=place.HERE.parent.parent / ".build/torture")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--so-far", action="store_true")
    options = parser.parse_args()
    # Places are where TMPDIR says, and in memory by default: what is killed loses nothing that a disk would have kept,
    # and a disk that is slow would only make the run longer.
    if "TMPDIR" not in os.environ and os.access("/dev/shm", os.W_OK):
        tempfile.tempdir = os.environ["TMPDIR"] = "/dev/shm"
    options.state.mkdir(parents=True, exist_ok=True)
    if not options.seed:
        unfinished = sorted(options.state.glob(f"*-{options.faults}.jsonl")) if not options.fresh else []
        options.seed = int(unfinished[0].stem.split("-")[0]) if unfinished else random.randrange(1, 1_000_000)
    with tempfile.TemporaryDirectory(prefix="photospool-torture-shared.") as directory:
        os.environ["TORTURE_SHARED"] = directory
        shared.build(directory)
        print(f"seed {options.seed}, {options.faults} faults", file=sys.stderr, flush=True)
        run = Run(options)
        if options.so_far:
            run.results = list(run.done.values())
            table([row for row in run.rows() if row["seconds"]], options.seed)
            return 0
        run.everything()
    rows = run.rows()
    table(rows, options.seed)
    for row in rows:
        if not row["good"]:
            print(f"\n{row['scenario']}:", *(row["complaints"][:20] or [row["broken"]]), *row["kept"], sep="\n  ")
    total = sum(row["faults"] for row in rows if not row["must"])
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({"seed": options.seed, "faults": total, "rows": rows}, indent=1) + "\n")
    # Parts that broke are done again by the next run.
    if not any(row["broken"] for row in rows):
        run.state.unlink(missing_ok=True)
    return 0 if all(row["good"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
