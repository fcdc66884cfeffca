"""A place where a scenario happens: a spool, the programs that work on it, the network they publish to, and the clients
with a journal of what they dropped and what was accepted."""

import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import journal
from daemon import PATIENCE, PHOTOSPOOL, Daemon, Stuck, in_session, until
from shared import WIDTHS, clock, killpoint, photo

HERE = pathlib.Path(__file__).resolve().parent
SETTINGS = """
intake: {rescan: 1s, settle: 300ms}
delivery: {probe: 100ms, mending: 1s, backoff: {first: 5ms, longest: 50ms}}
"""
# So many requests are judged together.
HISTORY = 40
SHELL = """mkdir "$1" && cp "$2" "$1/photo.jpg" && printf "%s\\n" "$3" > "$1/to" && printf "%s\\n" "$4" > "$1/text" \\
  && mv "$1" "$5"
"""
NETWORKS = {
    "local": "",
    "webhook": """
network: {{type: webhook, url: "{endpoint}/hook", secretFile: hook.secret, allowPrivate: true}}
store: {{type: presigned, endpoint: "{endpoint}/upload"}}
http: {{connect: 10s, stall: 10s}}
""",
    "s3": """
network: {{type: webhook, url: "{endpoint}/hook", secretFile: hook.secret, allowPrivate: true}}
store: {{type: s3, endpoint: "{endpoint}", bucket: objects, accessKeyFile: key, secretKeyFile: key}}
http: {{connect: 10s, stall: 10s}}
""",
}


class Place:
    def __init__(self, path, directory, part):
        self.path, self.part = path, part
        self.root = directory or path
        self.spool = os.path.join(self.root, "spool")
        self.environment = {
            "HOME": path, "XDG_CONFIG_HOME": path, "PATH": os.environ["PATH"], "LANG": "C.UTF-8",
            # Deliberate crashes need no long report.
            "SWIFT_BACKTRACE": "enable=no", "PHOTOSPOOL_SPOOL": self.spool, "PHOTOSPOOL_CONFIG": f"{path}/photospool.yaml"}
        self.clients = journal.Journal(f"{path}/clients.jsonl")
        self.lock = threading.Lock()
        self.serial = self.starts = self.judged = self.forgotten = 0
        self.context, self.processes, self.server, self.kind = "", [], None, "local"
        # The words that start its programs where they run.
        self.within = []
        # Files whose bytes may be nowhere in the spool after a purge.
        self.secrets = []
        # Published objects of conversations purged since; published objects stay.
        self.published = set()
        # Gives what networks received beside the recording one.
        self.others = list
        # Whether receipts stay as long as the place does.
        self.keeps_receipts = True
        # Signals that the scenario sent, and daemons that ended on their own.
        self.expected, self.faults = {-signal.SIGKILL}, []
        self.configure()

    # MARK: what is there

    def configure(self, text="", path=None):
        """Writes the configuration: short intervals for tests, the network, and `text`."""
        endpoint = self.server and self.facts["endpoint"]
        given = {line.partition(":")[0] for line in text.splitlines()}
        settings = [line for line in SETTINGS.splitlines() if line.partition(":")[0] not in given]
        pathlib.Path(path or f"{self.path}/photospool.yaml").write_text(
            "\n".join(settings) + "\n" + NETWORKS.get(self.kind, "").format(endpoint=endpoint) + text)

    def connect(self, kind):
        """Publishes to `webhook` or `s3` from now on, a recording network of this place's own; or `local`."""
        self.kind = kind
        if kind != "local":
            self.server = subprocess.Popen(
                [sys.executable, str(HERE / "network.py"), self.path, str(self.part.seed)], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, text=True, start_new_session=True)
            self.processes.append(self.server)
            self.facts = json.loads(self.server.stdout.readline())
            for name, text in (("hook.secret", "whsec_" + "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0"), ("key", "key")):
                with open(os.open(f"{self.path}/{name}", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
                    file.write(text)
        self.configure()

    def order(self, *words):
        """Gives an order to the recording network."""
        self.server.stdin.write(" ".join(map(str, words)) + "\n")
        self.server.stdin.flush()
        return json.loads(self.server.stdout.readline())

    def make(self):
        """The spool's directories, as the first daemon makes them."""
        daemon = self.start()
        daemon.ready()
        daemon.stop()

    def begin_anew(self):
        """An empty spool, once all of a long history was judged: each judgement takes the longer, the longer that is."""
        if self.serial < self.forgotten + HISTORY or self.part.complaints:
            return
        shutil.rmtree(self.spool)
        os.truncate(self.clients.path, 0)
        if self.server:
            os.truncate(f"{self.path}/journal.jsonl", 0)
            for name in os.listdir(self.objects()):
                os.unlink(f"{self.objects()}/{name}")
        self.judged, self.forgotten = 0, self.serial
        self.make()

    # MARK: programs

    def killing(self, k, sockets=False, who=""):
        """The environment that kills a program at its k-th call; the file `trace` lists the calls. Programs that run at
        the same time need different `who`."""
        for name in ("counter", "trace"):
            pathlib.Path(f"{self.path}/{name}{who}").unlink(missing_ok=True)
        more = {"KILLPOINT_SOCKETS": "1"} if sockets else {}
        return {
            "LD_PRELOAD": killpoint(), "KILLPOINT_AT": str(k), "KILLPOINT_COUNTER": f"{self.path}/counter{who}",
            "KILLPOINT_TRACE": f"{self.path}/trace{who}", "OPENINGS_MEMINFO": str(HERE / "meminfo"), **more}

    def stopping(self, k, call):
        """The environment that stops a program before its k-th call of one kind, as `killpoint.c` names it."""
        return {**self.killing(k), "KILLPOINT_SIGNAL": str(int(signal.SIGSTOP)), "KILLPOINT_ONLY": call}

    def clock(self):
        """The library that shifts the wall clock of programs."""
        return clock()

    def call(self, k):
        """The k-th call, for complaints."""
        try:
            with open(f"{self.path}/trace", errors="replace") as file:
                return file.read().split("\n")[k - 1].replace(self.path, "")
        except (OSError, IndexError):
            return "?"

    def start(self, **environment):
        daemon = Daemon(self, {**self.environment, **environment})
        self.processes.append(daemon.process)
        return daemon

    def ended(self, daemon, status):
        if daemon.process in self.processes:
            self.processes.remove(daemon.process)
        if status != 0 and status not in self.expected:
            with open(daemon.log, errors="replace") as log:
                self.faults.append(f"the daemon ended with {status}: {log.read()[-300:]}")
        # Its children share its session and end with it.
        self.orphans(daemon.process.pid)
        with open(daemon.log, "rb") as log, open(f"{self.path}/log", "ab") as all_logs:
            all_logs.write(log.read())
        os.unlink(daemon.log)

    def orphans(self, session):
        try:
            until(lambda: not in_session(session), "an end", 20)
        except Stuck:
            self.faults.append(f"the daemon is gone and left {in_session(session)} behind")
            for process in in_session(session):
                os.kill(process, signal.SIGKILL)

    def photospool(self, *arguments, environment={}, **options):
        """Runs a command to its end."""
        return subprocess.run(
            [PHOTOSPOOL, *arguments], env={**self.environment, **environment}, cwd=self.path, text=True,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, **options)

    # MARK: clients

    def begin(self, conversation, photos, **facts):
        """Writes down that a request is about to be dropped; returns it."""
        with self.lock:
            self.serial += 1
            entry = {
                "serial": self.serial, "conversation": conversation, "text": self.text(self.serial),
                "widths": sorted(self.part.random.sample(WIDTHS, photos)), **facts}
            self.clients.write({**entry, "what": "begin", "time": time.monotonic()})
            return entry

    def text(self, serial):
        return f"text number {serial}."

    def note(self, entry, what, **facts):
        with self.lock:
            self.clients.write({"serial": entry["serial"], "what": what, "time": time.monotonic(), **facts})

    def send(self, conversation, photos=0, key=None, environment={}, entry=None):
        """`photospool send`. Returns its entry; `status` in it is 0 when it was accepted."""
        entry = entry or self.begin(conversation, photos, key=key)
        arguments = [value for width in entry["widths"] for value in ("--photo", photo(width))]
        arguments += ["--id", entry["key"]] if entry["key"] else []
        done = self.photospool(
            "send", "--to", entry["conversation"], "--text", entry["text"], *arguments, environment=environment)
        if done.returncode == 0:
            self.note(entry, "accepted", request=done.stdout.strip())
        else:
            self.note(entry, "ended", status=done.returncode, said=done.stderr[-300:])
            # A printed name is a promise, whatever the exit status.
            if done.stdout.strip():
                self.note(entry, "accepted", request=done.stdout.strip())
        return {**entry, "status": done.returncode}

    def drop(self, conversation, photos=0, name=None, to="new", bad=False):
        """A request as any shell script drops it: files in tmp/, and a rename."""
        entry = self.begin(conversation, photos, **({"fails": True} if bad else {}))
        name = name or self.name(entry)
        self.build(entry, name, bad)
        os.rename(f"{self.spool}/tmp/{name}", f"{self.spool}/{to}/{name}")
        self.note(entry, "accepted" if to == "new" else "ahead", request=name)
        return {**entry, "request": name}

    @staticmethod
    def name(entry):
        """A name in the order of the drops: names order the renames within one tick of the kernel's clock."""
        return f"r{entry['serial']:07}"

    def build(self, entry, name, bad=False):
        directory = f"{self.spool}/tmp/{name}"
        os.mkdir(directory)
        write(f"{directory}/to", entry["conversation"] + "\n")
        write(f"{directory}/text", entry["text"] + "\n")
        for number, width in enumerate(entry["widths"]):
            shutil.copyfile(photo(width), f"{directory}/photo-{number}.jpg")
        if bad:
            write(f"{directory}/photo-x.jpg", "this is no photo")

    def run(self, command, environment):
        """Runs a client that is not photospool; returns its status."""
        return subprocess.run(
            command, env={**self.environment, **environment}, cwd=self.path, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE).returncode

    def drop_in_shell(self, conversation, environment={}):
        """mkdir, cp and mv, as the contract shows them. Returns its entry with the shell's `status`."""
        entry = self.begin(conversation, 1)
        name = self.name(entry)
        status = self.run(
            ["bash", "-c", SHELL, "client", f"{self.spool}/tmp/{name}", photo(entry["widths"][0]), conversation,
             entry["text"], f"{self.spool}/new/{name}"], environment)
        # The last word is mv's.
        if status == 0:
            self.note(entry, "accepted", request=name)
        else:
            self.note(entry, "ended", status=status)
        return {**entry, "status": status}

    # MARK: the end

    def ledger(self, question, *values):
        """Asks the ledger; nothing where there is none yet."""
        if not os.path.exists(f"{self.spool}/state/ledger.sqlite"):
            return []
        connection = sqlite3.connect(f"file:{self.spool}/state/ledger.sqlite?mode=ro", uri=True, timeout=30)
        try:
            return connection.execute(question, values).fetchall()
        finally:
            connection.close()

    def is_idle(self):
        """Whether nothing is left to do."""
        places = ("mail/new", "new", "cur", "cancel", "purge")
        if any(os.listdir(f"{self.spool}/{name}") for name in places if os.path.exists(f"{self.spool}/{name}")):
            return False
        try:
            return not self.ledger(
                "SELECT 1 FROM requests WHERE (state NOT IN ('draft') AND filed = 0) UNION ALL"
                " SELECT 1 FROM uploads WHERE state NOT IN ('published', 'offered') LIMIT 1")
        except sqlite3.OperationalError:
            return False

    def wait_idle(self, daemon, or_dead=False):
        """Waits until nothing is left to do; or the daemon is dead, if that may be."""
        until(lambda: not daemon.is_alive() or self.is_idle(), "the daemon does not finish what it has")
        if not daemon.is_alive() and not or_dead:
            raise Stuck(f"the daemon ended with {daemon.process.returncode}")

    def settle(self):
        """One start without faults: all is finished, and the daemon stopped in order."""
        daemon = self.start()
        self.wait_idle(daemon)
        daemon.ready()
        status = daemon.stop()
        if status != 0:
            self.faults.append(f"the daemon that was asked to stop ended with {status}")

    def effects(self):
        """Everything that the networks received: the journal and what others have, or the published files in their order."""
        if self.kind != "local":
            return [*journal.read(f"{self.path}/journal.jsonl"), *self.others()]
        return published(self.spool)

    def as_read(self, conversation, messages):
        """Effects from what a member reads, in order: of each message an id, a text or none, and a photo's width and digest or
        none. A photo belongs to the text that follows it."""
        names = {entry["text"]: entry.get("request") or self.name(entry) for entry in self.clients.read() if "text" in entry}
        effects, request = [], None
        for message, text, width, digest in reversed(messages):
            request = names.get(text) if text else request
            effects.append({"message": message, "isEffective": True, "kind": "text" if text else "photo", "text": text,
                            "conversation": conversation, "request": request, "width": width, "digest": digest})
        return effects[::-1]

    def objects(self):
        """The directory with the store's objects."""
        return f"{self.spool}/objects" if self.kind == "local" else f"{self.path}/objects"

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()
        self.processes = []


def published(spool):
    """What the network of files published."""
    entries = []
    for path in sorted(pathlib.Path(f"{spool}/published").glob("*.jsonl")):
        for entry in journal.read(path):
            attachment = entry.get("attachment") or {}
            entries.append({**entry, "isEffective": True, "digest": attachment.get("contentDigest"),
                            "width": attachment.get("width")})
    return entries


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
