#!/usr/bin/env python3
"""Lists the functions of the daemon and of the page, first those that run in usual work. The linker puts them side by side
in this order, so that little of a program is in memory. Needs Valgrind.

    tools/functions.py PROGRAMS LISTS

PROGRAMS is the directory of the linked programs, LISTS that of the lists, one for each program.
"""

import atexit
import bisect
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
# Seconds for each step. Valgrind makes a program fifty times slower.
PATIENCE = 180
# What is done now and then is done at once.
CONFIGURATION = "inbox: default\nintake: {rescan: 100ms}\nmetrics: {pause: 1s}\n"
PHOTO = Path("/usr/share/backgrounds/sunset_by_Aitzol_Berasategi.jpg")


def fail(what):
    sys.exit(f"functions.py: {what}")


def wait_until(is_so, what):
    end = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > end:
            fail(f"{what} within {PATIENCE} s")
        time.sleep(0.05)


class Trace:
    """A program that runs below Valgrind, until it is stopped or this program ends. `shell` starts its arguments."""

    def __init__(self, program, *arguments, place, environment, shell='exec "$@"', pass_fds=()):
        self.program, self.log, self.calls = program, place / f"{program.name}.log", place / f"{program.name}.calls"
        # Valgrind cannot read the symbols of so large a program.
        copy = place / program.name
        subprocess.run(["strip", "-o", copy, program], check=True)
        words = ["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no", "--compress-strings=no",
                 f"--callgrind-out-file={self.calls}", copy, *arguments]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(["bash", "-c", shell, "bash", *words], stdout=log, stderr=log,
                                            pass_fds=pass_fds, env=environment)
        atexit.register(self.process.kill)

    def wait_for(self, text):
        def has_said():
            if self.process.poll() is not None:
                fail(f"{self.program.name} ended: {self.log.read_text()}")
            return text in self.log.read_text()

        wait_until(has_said, f"{self.program.name} does not say {text!r}")

    def stop(self):
        self.process.terminate()
        # The page leaves its end to the kernel.
        if self.process.wait(PATIENCE) not in [0, -signal.SIGTERM]:
            fail(f"{self.program.name} ended with {self.process.returncode}: {self.log.read_text()}")

    def functions(self):
        """The names of all functions, first those that ran."""
        named = {}
        symbols = subprocess.run(["nm", "--defined-only", self.program], check=True, capture_output=True, text=True)
        for line in symbols.stdout.splitlines():
            address, kind, name = line.split(maxsplit=2)
            if kind in "tTwW":
                named.setdefault(int(address, 16), []).append(name)
        starts, ran, is_own = sorted(named), set(), False
        for line in self.calls.read_text().splitlines():
            if line.startswith("ob="):
                is_own = line.endswith(f"/{self.program.name}")
            elif is_own and line.startswith("0x"):
                ran.add(starts[bisect.bisect_right(starts, int(line.split()[0], 16)) - 1])
        # Functions without a name cannot be listed. They lie together, since all others are.
        return [name for start in sorted(starts, key=lambda start: (start not in ran, start)) for name in named[start]]


class Visitor:
    """Somebody with a browser, who has a link."""

    def __init__(self, link):
        address = urlsplit(link)
        self.host, self.port, self.cookie = address.netloc, address.port, None
        self.cookie = self.ask("POST", address.path).headers["Set-Cookie"].split(";")[0]

    def open(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        own = {"Host": self.host, "Origin": f"http://{self.host}"} | ({"Cookie": self.cookie} if self.cookie else {})
        connection.request(method, path, body, own | headers)
        answer = connection.getresponse()
        if answer.status >= 400:
            fail(f"{method} {path} is answered with {answer.status}: {answer.read()[:500].decode()}")
        return answer

    def ask(self, *words, **headers):
        answer = self.open(*words, **headers)
        answer.text = answer.read().decode(errors="replace")
        return answer

    def visit(self, send):
        """What people do with the page. `send` lets a message come by another way."""
        for asset in re.findall(r'"(/static/[^"]*)"', self.ask("GET", "/").text):
            self.ask("GET", asset)
        stream = self.open("GET", "/events?view=list&view=conversation:family")
        stream.readline()
        send()
        while not stream.readline().startswith(b"event: changed"):
            pass
        page = self.ask("GET", "/conversation?name=family").text
        for size in ["thumbnail", "original"]:
            self.ask("GET", f"/photo/{re.search('/photo/([0-9a-z]+)/', page)[1]}/{size}")
        draft = self.ask("PUT", "/draft/new/photo?name=family&file=photo.jpg", PHOTO.read_bytes()).text
        fields = {"id": "web-1", "draft": json.loads(draft)["draft"], "text": "Hello"}
        form = "".join(f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
                       for name, value in fields.items())
        self.ask("POST", "/conversation?name=family", f"{form}--b--\r\n",
                 **{"Content-Type": "multipart/form-data; boundary=b"})
        for path in ["/queue", "/storage"]:
            self.ask("GET", path)


def run(programs, place):
    """Traces of the daemon and of the page at work."""
    config, spool = place / "photospool.yaml", place / "spool"
    config.write_text(CONFIGURATION)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", place / "sigsuspend.so", ROOT / "Benchmarks/sigsuspend.c"],
                   check=True)
    shutil.copy(programs / "photospool-darkroom", place)
    given = {name: value for name, value in os.environ.items() if not name.startswith("PHOTOSPOOL_")}
    environment = given | {"HOME": str(place), "PHOTOSPOOL_CONFIG": str(config), "PHOTOSPOOL_SPOOL": str(spool)}
    own = environment | {"LD_PRELOAD": str(place / "sigsuspend.so")}

    def photospool(*words):
        asked = subprocess.run([programs / "photospool", *words], env=environment, stdout=subprocess.PIPE, text=True)
        if asked.returncode != 0:
            fail(f"photospool {words[0]} ended with {asked.returncode}")
        return asked.stdout.strip()

    def send():
        photospool("send", "--wait", "--to", "family", "--text", "Hello", "--photo", PHOTO)

    daemon = Trace(programs / "photospool", "run", place=place, environment=own)
    daemon.wait_for("event=ready")
    send()
    for _ in range(5):
        photospool("send", "--wait", "--to", "family", "--text", "Hello")
    listening = socket.create_server(("127.0.0.1", 0))
    number = listening.fileno()
    page = Trace(programs / "photospool-web", place=place, environment=own, pass_fds=[number],
                 shell=f'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@" 3<&{number}')
    listening.close()
    page.wait_for("page ready")
    Visitor(photospool("web", "link")).visit(send)
    for trace in [page, daemon]:
        trace.stop()
    return [daemon, page]


def main():
    programs, lists = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    lists.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="photospool-functions.", ignore_cleanup_errors=True) as place:
        for trace in run(programs, Path(place)):
            (lists / trace.program.name).write_text("\n".join(trace.functions()) + "\n")


if __name__ == "__main__":
    main()
