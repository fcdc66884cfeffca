#!/usr/bin/env python3
"""Mails: how long it takes from a mail's delivery until its request is in the spool, and from there until its photos and text are
published on `local`; what delivering the same mail takes an agent; the memory of 1,000 mails behind one another; and what parsing
each hostile mail costs the locked process. Prints figures without bounds.

    make build && .build/bench-python/bin/python Benchmarks/mail.py [--mails N] [--many N] [--directory DIR]

PHOTOSPOOL names another program than .build/release/photospool. `--only hostile` and the like measure a part. Agents of Debian are
those of `make .build/programs/ready`; without them only `photospool sendmail` is measured.
"""

import argparse
import array
import json
import os
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import measure
from measure import PHOTOSPOOL

TREE = Path(__file__).resolve().parent.parent
SUPPORT = TREE / "Tests/Support/python"
AGENTS = TREE / ".build/programs/agents/usr"
MEMORY = 256 << 20


def photos(place: Path, count: int) -> list[Path]:
    """JPEGs of 500 kB and two megapixels, as cameras mail them: cut from Debian's wallpapers, in the best quality for that size."""
    from PIL import Image, ImageOps
    corpus = TREE / ".build/bench-photos"
    subprocess.run([TREE / "Benchmarks/photos/make.sh", corpus], check=True)
    made = []
    for number, photo in enumerate(sorted(corpus.glob("*.jpg"))[:count]):
        picture = ImageOps.fit(Image.open(photo), (1920, 1080))
        made.append(place / f"{number}.jpg")
        for quality in range(95, 20, -1):
            picture.save(made[-1], quality=quality)
            if made[-1].stat().st_size <= 500_000:
                break
    return made


def mail(recipient: str, text: str, pictures: list[Path]) -> bytes:
    return subprocess.run(
        [sys.executable, SUPPORT / "make_mail.py", recipient, "", text, *pictures], check=True, capture_output=True).stdout


def deliver(spool: Path, name: str, data: bytes) -> float:
    """As Postfix does, with a sync and a link. Returns when the mail was there."""
    path = spool / "mail/tmp" / name
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.link(path, spool / "mail/new" / name)
    now = time.monotonic()
    path.unlink()
    return now


def published(spool: Path) -> int:
    try:
        return (spool / "published/family.jsonl").read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def start(place: Path) -> tuple[Path, subprocess.Popen]:
    spool = place / "spool"
    configuration = place / "photospool.yaml"
    configuration.write_text('mail: {accept: [{to: "*@photos", conversation: family}]}\n')
    daemon = subprocess.Popen(
        [PHOTOSPOOL, "run", "--spool", spool, "--config", configuration], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True)
    for line in daemon.stdout:
        if "event=ready" in line:
            break
    os.set_blocking(daemon.stdout.fileno(), False)
    return spool, daemon


def drain(daemon: subprocess.Popen) -> None:
    while daemon.stdout.buffer.read(1 << 16):
        pass


def latency(place: Path, count: int) -> dict:
    pictures = photos(place, 3)
    mails = [mail("family@photos", f"mail {number}", pictures) for number in range(count)]
    spool, daemon = start(place)
    try:
        taken, dropped, before = [], [], 0.0
        for number, data in enumerate(mails):
            if number == 5:
                before = measure.processor_seconds(daemon.pid)
            begin = deliver(spool, f"{number}.mail", data)
            # The mail leaves once its request is durably in the spool.
            measure.wait_until(lambda: not (spool / "mail/new" / f"{number}.mail").exists(), 60, 0.0005)
            dropped.append((time.monotonic() - begin) * 1000)
            measure.wait_until(lambda: published(spool) == 4 * (number + 1), 60, 0.0005)
            taken.append((time.monotonic() - begin) * 1000)
            drain(daemon)
            # One mail at a time, as a camera sends them.
            time.sleep(0.02)
        processor = (measure.processor_seconds(daemon.pid) - before) / max(1, count - 5) * 1000
    finally:
        daemon.terminate()
        daemon.wait()
    taken, dropped = taken[5:], dropped[5:]
    return (
        {"bytes of a photo": pictures[0].stat().st_size}
        | summary("mail to request", dropped)
        | summary("request to published", [whole - part for whole, part in zip(taken, dropped)])
        | summary("mail to published", taken)
        | {"processor ms a mail": processor})


def summary(name: str, values: list[float]) -> dict:
    return {
        f"{name}, p50 ms": statistics.median(values), f"{name}, p99 ms": measure.percentile(values, 0.99),
        f"{name}, most ms": max(values)}


def agents(place: Path, count: int) -> dict:
    """The time that agents take to deliver the same mail into mail/, in turns and without a daemon."""
    data = mail("family@photos", "text", photos(place, 3))
    spool, daemon = start(place)
    daemon.terminate()
    daemon.wait()
    box = spool / "mail/new"
    rules = place / "mailfilter"
    rules.write_text(f'to "{spool}/mail"\n')
    rules.chmod(0o600)
    commands = {"photospool sendmail": [PHOTOSPOOL, "sendmail", "-i", "family@photos"]}
    if AGENTS.is_dir():
        commands["procmail"] = [AGENTS / "bin/procmail", f"DEFAULT={spool}/mail/", "/dev/null"]
        # A copy has no special group, which would keep it from finding its libraries.
        commands["maildrop"] = [shutil.copy(AGENTS / "bin/maildrop", place), rules]
        os.chmod(place / "maildrop", 0o755)
    libraries = AGENTS / "lib" / (os.uname().machine + "-linux-gnu")
    environment = os.environ | {
        "PHOTOSPOOL_CONFIG": str(place / "photospool.yaml"), "PHOTOSPOOL_SPOOL": str(spool),
        "LD_LIBRARY_PATH": f"{libraries}:{libraries.parent}"}
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(count):
        for name, command in commands.items():
            begin = time.monotonic()
            subprocess.run(command, input=data, check=True, env=environment, cwd=place)
            taken[name].append((time.monotonic() - begin) * 1000)
            delivered = list(box.iterdir())
            if len(delivered) != 1:
                raise RuntimeError(f"{name} delivered {len(delivered)} mails")
            delivered[0].unlink()
    return {key: value for name, values in taken.items() for key, value in summary(name, values).items()}


def many(place: Path, count: int) -> dict:
    """Mails that wait behind one another."""
    pictures = photos(place, 3)
    stem = mail("family@photos", "TEXT", pictures)
    spool, daemon = start(place)
    try:
        memory = [measure.resident_mib(daemon.pid)]
        begin, done = time.monotonic(), 0
        for number in range(count):
            deliver(spool, f"{number:04}.mail", stem.replace(b"Message-ID: <", f"Message-ID: <{number}.".encode()))
            drain(daemon)
        while done < 4 * count:
            done = published(spool)
            memory.append(measure.resident_mib(daemon.pid))
            drain(daemon)
            time.sleep(0.2)
        seconds = time.monotonic() - begin
    finally:
        daemon.terminate()
        daemon.wait()
    return {"mails a second": count / seconds, "MiB at first": memory[0], "MiB at most": max(memory), "MiB at last": memory[-1]}


def ask(path: Path) -> dict:
    """What one mail costs a locked process of its own: its processor time and memory beyond an idle one's, and its answer."""
    ours, theirs = socket.socketpair()
    program = str(Path(PHOTOSPOOL).resolve().parent / "photospool-darkroom")

    def give_line():
        os.dup2(theirs.fileno(), 3)

    process = subprocess.Popen([program, "mail", str(MEMORY)], preexec_fn=give_line, close_fds=False)
    theirs.close()
    idle = ask_again(ours, process.pid, None)
    cost = ask_again(ours, process.pid, path)
    ours.close()
    process.wait()
    return {"ms": cost["ms"], "MiB": cost["peak"] - idle["peak"], "answer": cost["answer"]}


def ask_again(line: socket.socket, pid: int, path: Path | None) -> dict:
    before = ticks(pid)
    with open(path or os.devnull, "rb") as file:
        line.sendmsg([struct.pack("<Q", 40_000_000)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file.fileno()]))])
        header = received(line, 8)
        answer = received(line, struct.unpack("<Q", header)[0]) if header else b""
    if len(answer) < 8:
        return {"ms": 0.0, "peak": 0.0, "answer": "no answer"}
    peak = next(int(text.split()[1]) for text in Path(f"/proc/{pid}/status").read_text().splitlines() if text.startswith("VmHWM"))
    # The first number of an answer is 1 for a refusal; a sentence follows.
    sentence = answer[16:16 + struct.unpack("<Q", answer[8:16])[0]].decode() if answer[0] == 1 else "taken"
    return {"ms": ticks(pid) - before, "peak": peak / 1024, "answer": sentence}


def ticks(pid: int) -> float:
    """Milliseconds of processor time, by the scheduler."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e6


def received(line: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = line.recv(count - len(data))
        if not more:
            return b""
        data += more
    return data


def hostile(place: Path) -> dict:
    made = subprocess.run([sys.executable, SUPPORT / "hostile_mails.py", place], check=True, capture_output=True, text=True)
    return {name: ask(place / f"{name}.eml") for name in json.loads(made.stdout)}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--mails", type=int, default=300)
    options.add_argument("--many", type=int, default=1000)
    options.add_argument("--directory", default=None)
    options.add_argument("--only", choices=["latency", "agents", "many", "hostile"])
    given = options.parse_args()
    parts = {
        "latency": lambda place: latency(place, given.mails), "agents": lambda place: agents(place, given.mails),
        "many": lambda place: many(place, given.many), "hostile": hostile}
    for name, measured in parts.items():
        if given.only not in (None, name):
            continue
        place = Path(tempfile.mkdtemp(prefix="photospool-mail.", dir=given.directory))
        try:
            print(f"{name}: {measure.machine()}")
            for what, figure in measured(place).items():
                if isinstance(figure, dict):
                    print(f"{what}: {figure['ms']:.0f} ms, {figure['MiB']:.0f} MiB, {figure['answer']}")
                else:
                    print(f"{name}: {what} {figure:.1f}")
        finally:
            shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
