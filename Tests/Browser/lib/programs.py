"""The programs of a test: a daemon, a page and the command line, in a scratch directory with a spool."""

import ctypes
import json
import os
import pathlib
import signal
import socket
import subprocess
import time
from urllib.parse import quote, urlsplit

from client import Client

ROOT = pathlib.Path(__file__).resolve().parents[3]
PHOTOSPOOL = os.environ.get("PHOTOSPOOL", str(ROOT / ".build/debug/photospool"))


def until(question, what, seconds=60):
    """Asks until the answer is true, for events that no browser and no line tells. Returns the answer."""
    end = time.monotonic() + seconds
    while True:
        begin = time.monotonic()
        if answer := question():
            return answer
        assert time.monotonic() < end, f"it never came to this: {what}"
        # A question that starts a program leaves the processor to what it asks about.
        time.sleep(max(0.02, 2 * (time.monotonic() - begin)))


def free_port():
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        return reserved.getsockname()[1]


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Programs:
    def __init__(self, scratch):
        self.directory = pathlib.Path(scratch)
        self.spool = self.directory / "spool"
        self.environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ} | {
            "HOME": scratch, "XDG_CONFIG_HOME": scratch, "PHOTOSPOOL_SPOOL": str(self.spool)}
        self.program = [PHOTOSPOOL]
        # The page's scheme, name and port, and the last two alone.
        self.daemon, self.web, self.origin, self.address = None, None, None, None
        self.started = []

    def start(self, *words, log):
        with open(self.directory / log, "ab") as output, open(self.directory / f"{log}.err", "ab") as errors:
            process = subprocess.Popen([*self.program, *words], env=self.environment, cwd=self.directory, stdout=output,
                                       stderr=errors, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)
        self.started.append(process)
        return process

    def configure(self, settings):
        (self.directory / "photospool.yaml").write_text(settings)
        self.environment["PHOTOSPOOL_CONFIG"] = str(self.directory / "photospool.yaml")

    def program_as_network(self, settings=""):
        """A program gets what is sent, line by line in the file `delivered`. It refuses the kinds of messages that the
        file `refused` names, and puts off those that the file `delayed` names."""
        program = self.directory / "network"
        program.write_text(f"""#!/bin/sh
cd '{self.directory}' && read -r line
for kind in $(cat refused 2> /dev/null); do
  case $line in *'"kind":"'$kind'"'*) echo 'The account may not write there' >&2; exit 77 ;; esac
done
for kind in $(cat delayed 2> /dev/null); do
  case $line in *'"kind":"'$kind'"'*) echo 'the gateway is closed' >&2; exit 75 ;; esac
done
printf '%s\\n' "$line" >> delivered
""")
        program.chmod(0o755)
        self.configure(f"network: {{type: exec, program: {program}}}\n{settings}")

    def refuse(self, *kinds):
        (self.directory / "refused").write_text(" ".join(kinds))

    def delay(self, *kinds):
        (self.directory / "delayed").write_text(" ".join(kinds))

    def delivered(self):
        """The kinds of messages that the program got, in order."""
        return [line["kind"] for line in self.lines()]

    def lines(self):
        """What the program got."""
        return [json.loads(line) for line in self.text("delivered").splitlines()]

    def text(self, file):
        path = self.directory / file
        return path.read_text() if path.exists() else ""

    def start_daemon(self):
        (self.directory / "run.err").unlink(missing_ok=True)
        self.daemon = self.start("run", log="run")
        until(lambda: "event=ready" in self.text("run.err") or self.daemon.poll() is not None, "the daemon is ready")
        assert self.daemon.poll() is None, self.text("run.err")

    def stop_daemon(self):
        self.daemon.terminate()
        assert self.daemon.wait(30) == 0, self.text("run.err")

    def start_page(self, *options):
        """Starts the page. Returns the link that was printed."""
        (self.directory / "web").unlink(missing_ok=True)
        self.web = self.start("web", *options, log="web")
        until(lambda: "\n" in self.text("web") or self.web.poll() is not None, "the page prints a link")
        link = self.text("web").strip()
        assert link, self.text("web.err")
        self.origin, self.address = link[: link.index("/login/")], urlsplit(link).netloc
        until(lambda: self.client().is_up(), "the page answers")
        return link

    def run(self, *words, status=0):
        """A command's output."""
        done = subprocess.run([*self.program, *words], env=self.environment, cwd=self.directory, capture_output=True, text=True)
        assert done.returncode == status, f"{words}: {done.returncode} {done.stderr}"
        return done.stdout

    def link(self, *options):
        return self.run("web", "link", *options).strip()

    def memory(self):
        """The largest resident size of the page's process in bytes, without the pages of its files."""
        lines = pathlib.Path(f"/proc/{self.web.pid}/status").read_text().splitlines()
        kilobytes = {words[0]: int(words[1]) for words in map(str.split, lines) if words[0] in ("VmHWM:", "RssFile:")}
        return (kilobytes["VmHWM:"] - kilobytes["RssFile:"]) * 1024

    def url(self, path, name=None):
        return self.origin + path + ("" if name is None else "?name=" + quote(name, safe=""))

    def client(self, link=None, **options):
        """Plain HTTP, with a session if there is a link."""
        client = Client(self.origin, **options)
        if link:
            client.log_in(link)
        return client

    def end_programs(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait()
