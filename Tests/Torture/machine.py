"""The machine of a test: a spool on a faulty disk, and everything else on a disk without faults."""

import contextlib
import hashlib
import json
import mmap
import os
import pathlib
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

import disks
from scenario import Skip

here = pathlib.Path(__file__).resolve().parent
tree = here.parent.parent
PHOTOSPOOL = os.environ.get("PHOTOSPOOL", str(tree / ".build/debug/photospool"))
# Every step has to end within this many seconds. Only a hanging program takes that long.
PATIENCE = 120
# Allowed exit statuses of a daemon that could not do its work; each comes with a sentence.
STATUSES = (0, 73, 74, 75)


class Refusal(Exception):
    """The daemon did not do its work, and said why."""


class State:
    """The state shared by the processes under a shim: see diskpoint.c."""

    NAMES = ("calls", "faults", "second_syncs", "is_mended")

    def __init__(self, path):
        self.path = path
        with open(path, "wb") as file:
            file.write(bytes(32))
        self.file = open(path, "r+b")
        self.memory = mmap.mmap(self.file.fileno(), 32)

    def __getattr__(self, name):
        return struct.unpack_from("l", self.memory, 8 * self.NAMES.index(name))[0]

    def mend(self):
        struct.pack_into("l", self.memory, 24, 1)

    def judge_syncs(self, part, where):
        """No descriptor is synced again after its sync failed."""
        if self.second_syncs:
            part.complain("LOST", f"{self.second_syncs} syncs were asked for again {where}")


class Daemon:
    """`photospool run`, or another verb that runs until it is stopped."""

    def __init__(self, machine, environment, before=(), log=None, verb="run"):
        self.machine = machine
        machine.logs += 1
        self.heard = 0
        self.log = log or f"{machine.scratch}/log.{machine.logs}"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*before, PHOTOSPOOL, verb], env=machine.environment | environment, stdout=log, stderr=log,
                cwd=machine.scratch)
        machine.running.append(self.process)

    def text(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()

    def is_alive(self):
        return self.process.poll() is None

    def wait_for(self, what):
        """Waits until `what()` holds or the daemon is dead. Reads of a disk without power fail shortly before that."""
        def holds():
            with contextlib.suppress(OSError):
                return what()

        end = time.monotonic() + PATIENCE
        while self.is_alive() and not holds():
            if time.monotonic() > end:
                raise AssertionError(f"it never came to this; the log ends:\n{self.text()[-2000:]}")
            time.sleep(0.01)

    def outlasts(self, state, amount, is_over):
        """Waits until all is over. An error without an end, an `amount` of 0, lasts for a moment, during which no work may be
        given up, and is mended then."""
        self.wait_for(lambda: is_over() or state.faults > 0)
        if amount == 0 and state.faults:
            self.wait_for(lambda: state.faults > 3 or "level=error" in self.text())
            state.mend()
        self.wait_for(is_over)

    def listens(self):
        """Ignores earlier complaints."""
        self.heard = len(self.text())

    def complains(self):
        """Whether it has logged a problem; a note that it runs as root does not count."""
        return any(
            f"level={level} " in line and "running as root" not in line
            for line in self.text()[self.heard:].splitlines() for level in ("warning", "error", "critical"))

    def hangs(self):
        """Whether one of its threads waits for a disk, so that it cannot be killed."""
        for path in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/stat"):
            with contextlib.suppress(OSError):
                if path.read_text().rpartition(")")[2].split()[0] == "D":
                    return True
        return False

    def says(self, line):
        return lambda: line in self.text()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Stops it unless it has ended, and returns its status."""
        if self.is_alive():
            self.process.terminate()
        return self.process.wait(PATIENCE)

    def stop_with_a_reason(self, part, where):
        """Stops a daemon that could not do its work: it may end with an error and a reason."""
        self.stop()
        self.judge_end(part, where)

    def judge_end(self, part, where):
        """It has ended: well, or with an error and a reason."""
        status = self.process.returncode
        if status not in STATUSES:
            part.complain("ALIVE", f"the daemon ended with {status} {where}: {self.text()[-300:]}")
        if status and "photospool: " not in self.text() and "at once" not in self.text():
            part.complain("ALIVE", f"the daemon does not say why it ended {where}")


class Machine:
    def __init__(self, disk, configuration="{}\n"):
        self.disk = disk
        self.scratch = tempfile.mkdtemp(prefix="photospool-machine.")
        self.running, self.logs = [], 0
        self.spool = pathlib.Path(self.disk.path) / "spool"
        self.configuration = f"{self.scratch}/photospool.yaml"
        pathlib.Path(self.configuration).write_text(configuration)
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": self.scratch, "XDG_CONFIG_HOME": self.scratch, "LANG": "C.UTF-8",
            "PHOTOSPOOL_SPOOL": str(self.spool), "PHOTOSPOOL_CONFIG": self.configuration,
        }

    def __enter__(self):
        try:
            self.disk.__enter__()
            self.shim = f"{self.scratch}/diskpoint.so"
            subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", self.shim, here / "diskpoint.c", "-ldl"], check=True)
        except Exception:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self.running:
            if process.poll() is None:
                process.kill()
                process.wait()
        self.disk.__exit__()
        shutil.rmtree(self.scratch, ignore_errors=True)

    # Programs.

    def under_shim(self, state, **settings):
        """The environment in which the disk has a fault."""
        return {
            "LD_PRELOAD": self.shim, "DISKPOINT_UNDER": self.disk.path, "DISKPOINT_STATE": state.path,
            "OPENINGS_MEMINFO": str(here / "meminfo"),
        } | {f"DISKPOINT_{name.upper()}": str(value) for name, value in settings.items() if value is not None}

    def state(self):
        return State(f"{self.scratch}/state")

    def start(self, before=(), log=None, **environment):
        """A daemon; `before` are the words of a command that starts it, and `log` is a file that it speaks to."""
        return Daemon(self, environment, before, log)

    def photospool(self, *arguments, environment={}, **more):
        return subprocess.run(
            [PHOTOSPOOL, *map(str, arguments)], env=self.environment | environment, capture_output=True, text=True,
            cwd=self.scratch, timeout=PATIENCE, **more)

    def drop(self, name, conversation, text, photo=None, key=None):
        """Drops a request like a shell script, without a sync."""
        place = self.spool / "tmp" / name
        place.mkdir()
        (place / "to").write_text(f"{conversation}\n")
        (place / "text").write_text(f"{text}\n")
        if photo:
            shutil.copyfile(photo, place / "photo.jpg")
        if key:
            (place / "id").write_text(f"{key}\n")
        place.rename(self.spool / "new" / name)

    def make_spool(self):
        """An empty spool, kept as the beginning of every round."""
        daemon = self.start()
        daemon.wait_for(daemon.says("event=ready"))
        assert daemon.stop() == 0, daemon.text()
        self.keep()

    def take_photo(self):
        """A photograph of this machine's own."""
        self.photo = f"{self.scratch}/photo.jpg"
        noise = "from PIL import Image; import sys; Image.effect_noise((640, 480), 60).convert('RGB').save(sys.argv[1], quality=90)"
        subprocess.run([os.environ.get("PHOTOSPOOL_PYTHON", sys.executable), "-c", noise, self.photo], check=True)

    def send(self, text="hello", **environment):
        """`photospool send` of the photo and a text. Returns the name that was printed, or None."""
        done = self.photospool("send", "--to", "family", "--photo", self.photo, "--text", text, environment=environment)
        return done.stdout.strip() or None

    def two_requests(self):
        """Begins a round: sends one request, drops another one, `b`, and returns their names."""
        self.begin()
        name = self.send("a")
        self.drop("b", "family", "b", self.photo)
        return [name, "b"]

    def keep(self):
        """Keeps the spool as the beginning of every round."""
        shutil.rmtree(f"{self.disk.path}/made", ignore_errors=True)
        self.spool.rename(f"{self.disk.path}/made")

    def begin(self):
        shutil.rmtree(self.spool, ignore_errors=True)
        # cp keeps times, owners and modes of directories, too.
        subprocess.run(["cp", "-a", f"{self.disk.path}/made", self.spool], check=True)
        disks.sync(self.disk.path)

    def is_idle(self):
        places = [self.spool / place for place in ("mail/new", "new", "cur") if (self.spool / place).exists()]
        return not any(name for place in places for name in os.listdir(place) if not name.startswith("."))

    def finish(self):
        """A daemon without faults runs until nothing is left to do."""
        daemon = self.start()
        daemon.wait_for(daemon.says("event=ready"))
        daemon.wait_for(lambda: self.is_idle() and self.is_swept())
        status = daemon.stop()
        if status != 0:
            raise Refusal(f"the daemon ended with {status}: {daemon.text().splitlines()[-1]}")
        return daemon

    # State.

    def ledger(self, question):
        connection = sqlite3.connect(f"file:{self.spool}/state/ledger.sqlite?mode=ro", uri=True, timeout=10)
        connection.row_factory = sqlite3.Row
        try:
            return [dict(row) for row in connection.execute(question)]
        finally:
            connection.close()

    def is_swept(self):
        return not self.ledger("SELECT 1 FROM uploads WHERE state <> 'published' UNION SELECT 1 FROM requests WHERE filed = 0")

    def published(self, conversation):
        path = self.spool / "published" / f"{conversation}.jsonl"
        if not path.exists():
            return []
        return [json.loads(line) for line in path.read_text().splitlines()]

    def judge_leftovers(self, part, where):
        for sentence in self.left_behind():
            part.complain("CLEAN", f"{sentence} {where}")

    def left_behind(self):
        """A sentence for each thing that an idle spool must not hold."""
        for place in ("mail/new", "new", "cur", "state/trash"):
            directory = self.spool / place
            names = [name for name in os.listdir(directory) if name != ".order"] if directory.exists() else []
            if names:
                yield f"{place}/ holds {names}"
        if self.ledger("PRAGMA integrity_check") != [{"integrity_check": "ok"}]:
            yield "the ledger is damaged"
        waiting = self.ledger("SELECT state FROM messages WHERE state NOT IN ('sent','failed','cancelled')")
        if waiting:
            yield f"messages wait: {waiting}"
        temporary = [str(path) for path in self.spool.rglob(".*.tmp")] + [str(path) for path in self.spool.rglob(".upload-*")]
        if temporary:
            yield f"temporary files are left: {temporary}"


@contextlib.contextmanager
def a_machine(disk=lambda: disks.Disk("tmpfs", "size=64m"), **more):
    """A machine with a photo and an empty spool, on a disk that `disk()` makes, or of that kind."""
    with contextlib.ExitStack() as stack:
        try:
            made = stack.enter_context(Machine(disks.Disk(disk) if isinstance(disk, str) else disk(), **more))
        except disks.Refused as refusal:
            raise Skip(str(refusal)) from None
        made.take_photo()
        made.make_spool()
        yield made


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
